// Copies files between two processes, several large messages under way at a time, and proves that they arrived.
//
//   copyfile receive DIRECTORY [--once]    prints its address; takes files from one sender after the other
//   copyfile send ADDRESS FILE...
//
// Both ends compute SHA-256, and a file gets its name only when both agree. Exit status: 0 all files are there, 1 not
// all, 2 wrong usage. See copyfile_protocol.hpp for what is said between the two.
#include <algorithm>
#include <array>
#include <chrono>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/weft.hpp>

#include "copyfile_files.hpp"
#include "copyfile_protocol.hpp"
#include "copyfile_station.hpp"

namespace copyfile {
namespace {

using clock_type = std::chrono::steady_clock;

// The buffers of one side, with the operation each is in. They outlive the endpoint.
struct slots {
    struct slot {
        operation use;
        std::vector<std::byte> bytes = std::vector<std::byte>(piece_size);
    };
    std::array<slot, pieces_in_flight> all;

    slot& operator[](std::uint64_t piece) noexcept { return all[piece % pieces_in_flight]; }
    bool any_pending() const noexcept {
        for (const slot& s : all)
            if (s.use.pending) return true;
        return false;
    }
};

void report(std::string_view verb, std::string_view name, std::uint64_t size, clock_type::time_point start) {
    const double seconds = std::chrono::duration<double>(clock_type::now() - start).count();
    std::printf("%.*s %.*s: %" PRIu64 " bytes, %.3f s, %.2f GB/s, SHA-256 verified\n", static_cast<int>(verb.size()),
                verb.data(), static_cast<int>(name.size()), name.data(), size, seconds,
                static_cast<double>(size) / 1e9 / seconds);
    std::fflush(stdout);
}
void complain(const std::string& text) { std::fprintf(stderr, "copyfile: %s\n", text.c_str()); }

// ---- sending --------------------------------------------------------------------------------------------------

class sender {
  public:
    explicit sender(std::string_view address)
        : station_(weft::fabric::open().value().best_for(address, weft::caps::tagged, requirements()).value()),
          to_(station_.domain().resolve(address).value()) {}

    // False: this file failed and the next may be tried. Throws trouble when that makes no sense.
    bool send(const std::string& path) {
        std::optional<source_file> file;
        try {
            file.emplace(path);
            if (!is_plain_name(file->name())) throw trouble("cannot send " + path + ": bad characters in its name");
        } catch (const trouble& t) {
            complain(t.what());
            return false;
        }
        const auto start = clock_type::now();
        offer o;
        o.size = file->size();
        o.mode = file->mode();
        set_text(o.name, file->name());
        station_.say(o, offer_tag, to_);
        expect_answer();
        station_.wait(answering_);
        if (answer_.good == 0) return refused(path);

        expect_answer();  // comes early only if the other side fails
        const trailer t = send_pieces(*file);
        station_.say(t, trailer_tag, to_);
        station_.wait(answering_);
        if (t.complete == 0) {
            if (t.text[0] == 0) return refused(path);
            complain(std::string(text_in(t.text)));
            return false;
        }
        if (answer_.good == 0) return refused(path);
        if (answer_.sum != t.sum) throw trouble(path + ": the receiver has another SHA-256 than was sent");
        report("sent", file->name(), file->size(), start);
        return true;
    }

    void finish() {
        offer last;
        last.files = 0;
        station_.say(last, offer_tag, to_);
    }

  private:
    void expect_answer() { station_.receive(answering_, weft::bytes_of(answer_), answer_tag, to_); }
    bool refused(const std::string& path) {
        complain(path + ": the receiver says: " + std::string(text_in(answer_.text)));
        return false;
    }

    trailer send_pieces(source_file& file) {
        trailer t;
        sha256 sum;
        const std::uint64_t count = pieces_of(file.size());
        try {
            for (; t.pieces < count && answering_.pending; ++t.pieces) {
                slots::slot& s = slots_[t.pieces];
                station_.wait(s.use);
                const auto piece = std::span(s.bytes).first(size_of_piece(file.size(), t.pieces));
                fill(file, sum, piece);
                station_.send(s.use, piece, piece_tag, to_);
            }
            if (t.pieces == count) {
                file.must_end_here();
                t.sum = sum.finish();
                t.complete = 1;
            }
        } catch (const read_failed& f) {
            set_text(t.text, f.what());
        }
        for (slots::slot& s : slots_.all) station_.wait(s.use);
        return t;
    }

    // In steps: pieces under way move while we poll.
    void fill(source_file& file, sha256& sum, std::span<std::byte> room) {
        constexpr std::size_t step = 256u << 10;
        while (!room.empty()) {
            const auto part = room.first(std::min(step, room.size()));
            file.read(part);
            sum.add(part);
            room = room.subspan(part.size());
            station_.poll();
        }
    }

    slots slots_;
    answer answer_;
    operation answering_;
    station station_;  // after what it uses, so that it is closed first
    weft::peer to_;
};

// ---- receiving ------------------------------------------------------------------------------------------------

class receiver {
  public:
    explicit receiver(const std::string& directory)
        : directory_(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
          station_(weft::fabric::open().value().best(weft::caps::tagged, requirements()).value()) {
        if (!directory_) throw system_trouble("cannot write into " + directory);
    }

    std::string address() const { return station_.address(); }

    // Takes all files of one sender. True if it said that it is finished and all its files are here.
    bool serve() {
        bool all_good = true;
        weft::peer from = weft::any_peer;
        try {
            for (;;) {
                offer o;
                next(o, from);
                if (o.files == 0) return all_good;
                all_good = take(o, from) && all_good;
            }
        } catch (const peer_lost& lost) {
            complain("the sender is lost: " + std::string(lost.what()));
            // Each operation with it ends by itself; none may end in the time of the next sender.
            station_.wait_until([&] { return !ending_.pending && !slots_.any_pending(); });
            return false;
        }
    }

  private:
    // The next offer of this sender, or the first of any.
    void next(offer& o, weft::peer& from) {
        for (;;) {
            station_.receive(offering_, weft::bytes_of(offer_), offer_tag, from);
            station_.wait(offering_);
            o = offer_;
            if (offering_.size == sizeof o && o.magic == magic) break;
            complain("a message that is not copyfile's is ignored, from " + station_.domain().text_of(offering_.from));
        }
        from = offering_.from;
    }

    void say(weft::peer to, const digest& sum, const std::string& why_not) {
        answer a;
        a.good = why_not.empty() ? 1 : 0;
        a.sum = sum;
        set_text(a.text, why_not);
        station_.say(a, answer_tag, to);
    }

    bool take(const offer& o, weft::peer from) {
        const std::string name(text_in(o.name));
        const auto start = clock_type::now();
        std::optional<target_file> file;
        try {
            if (!is_plain_name(name)) throw trouble("a file name was sent that is not one");
            if (o.size > std::uint64_t{INT64_MAX}) throw trouble("no file has that many bytes");
            file.emplace(directory_.get(), name, o.size);
        } catch (const trouble& t) {
            complain(t.what());
            say(from, {}, t.what());
            return false;
        }
        digest sum{};
        std::string why_not = take_pieces(o, from, *file, sum);
        if (why_not.empty()) {
            try {
                file->publish(o.mode);
            } catch (const trouble& t) {
                why_not = t.what();
            }
        }
        if (!told_) say(from, sum, why_not);
        if (why_not.empty())
            report("received", name, o.size, start);
        else
            complain(why_not);
        return why_not.empty();
    }

    // Empty if the file is complete and the digests agree. `told_` if the sender has had its answer already.
    std::string take_pieces(const offer& o, weft::peer from, target_file& file, digest& sum) {
        const std::uint64_t count = pieces_of(o.size);
        std::uint64_t posted = 0, taken = 0;
        std::string why_not;
        told_ = false;
        const auto fail = [&](const std::string& why) {
            if (!why_not.empty()) return;
            why_not = why;
            say(from, {}, why);
            told_ = true;
        };
        const auto post = [&] {
            for (; posted < count && posted < taken + pieces_in_flight; ++posted)
                station_.receive(slots_[posted].use, std::span(slots_[posted].bytes), piece_tag, from);
        };
        station_.receive(ending_, weft::bytes_of(trailer_), trailer_tag, from);
        post();
        say(from, {}, {});

        sha256 hash;
        for (;;) {
            // The trailer says how many pieces there are; without it there are as many as were offered.
            const auto total = [&] { return ending_.pending ? count : std::min(count, trailer_.pieces); };
            station_.wait_until([&] { return taken >= total() ? !ending_.pending : !slots_[taken].use.pending; });
            if (!ending_.pending && !ending_.outcome) station::give_up(ending_.outcome);
            if (taken >= total()) break;
            slots::slot& s = slots_[taken];
            if (s.use.outcome.code() == weft::errc::peer_gone) station::give_up(s.use.outcome);
            if (!s.use.outcome || s.use.size != size_of_piece(o.size, taken)) fail("a piece has the wrong size");
            if (why_not.empty()) {
                try {
                    const auto piece = std::span<const std::byte>(s.bytes).first(static_cast<std::size_t>(s.use.size));
                    hash.add(piece);
                    file.write(piece);
                } catch (const trouble& t) {
                    fail(t.what());
                }
            }
            ++taken;
            post();
        }
        for (slots::slot& s : slots_.all) station_.take_back(s.use);
        station_.wait_until([&] { return !slots_.any_pending(); });
        if (!why_not.empty()) return why_not;
        if (trailer_.complete == 0 || taken != count)
            return "the sender gave up: " + std::string(text_in(trailer_.text));
        sum = hash.finish();
        return sum == trailer_.sum ? "" : "SHA-256 of what was written is not that of what was sent";
    }

    descriptor directory_;
    slots slots_;
    offer offer_;
    trailer trailer_;
    operation offering_, ending_;
    bool told_ = false;
    station station_;  // after what it uses, so that it is closed first
};

// ---- command line ---------------------------------------------------------------------------------------------

int send_all(std::string_view address, const std::vector<std::string>& paths) {
    sender out(address);
    bool good = true;
    try {
        for (const std::string& path : paths) good = out.send(path) && good;
        out.finish();
    } catch (const peer_lost& lost) {
        throw trouble("the receiver is lost: " + std::string(lost.what()));
    }
    return good ? 0 : 1;
}

int receive_all(const std::string& directory, bool once) {
    receiver in(directory);
    std::printf("%s\n", in.address().c_str());
    std::fflush(stdout);
    for (;;) {
        const bool good = in.serve();
        if (once) return good ? 0 : 1;
    }
}

constexpr char usage[] =
    "usage: copyfile receive DIRECTORY [--once]   print an address, write what is sent there into DIRECTORY\n"
    "       copyfile send ADDRESS FILE...         send files to the receiver at ADDRESS (shm://...)\n";

int run(const std::vector<std::string>& words) {
    if (!words.empty() && (words[0] == "--help" || words[0] == "-h")) {
        std::fputs(usage, stdout);
        return 0;
    }
    if (words.size() >= 3 && words[0] == "send") return send_all(words[1], {words.begin() + 2, words.end()});
    const bool once = words.size() == 3 && words[2] == "--once";
    if ((words.size() == 2 || once) && words[0] == "receive") return receive_all(words[1], once);
    std::fputs(usage, stderr);
    return 2;
}

}  // namespace
}  // namespace copyfile

int main(int count, char** words) {
    struct sigaction stop{};
    stop.sa_handler = [](int) { copyfile::interrupted = 1; };
    ::sigaction(SIGINT, &stop, nullptr);
    ::sigaction(SIGTERM, &stop, nullptr);
    std::signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes shall be an error of write()
    try {
        return copyfile::run({words + 1, words + count});
    } catch (const std::exception& e) {
        std::fprintf(stderr, "copyfile: %s\n", e.what());
        return 1;
    }
}
