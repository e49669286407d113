// One endpoint's view of the memory it shares with one peer.
#pragma once
#include <cstdint>
#include <memory>
#include "os/mapping.hpp"
#include "protocol/records.hpp"
#include "shm/copy_choice.hpp"
#include "shm/limits.hpp"
#include "shm/region.hpp"
#include "shm/ring.hpp"

namespace weft::shm {

using main_producer = producer<limits::ring_slots, limits::eager_bytes>;
using main_consumer = consumer<limits::ring_slots, limits::eager_bytes, limits::release_batch>;
using bulk_producer = producer<limits::bulk_slots, limits::bulk_bytes>;
using bulk_consumer = consumer<limits::bulk_slots, limits::bulk_bytes, limits::bulk_release_batch>;

struct alignas(64) channel : protocol::peer_state {
    alignas(64) main_producer main_tx;
    alignas(64) main_consumer main_rx;
    alignas(64) bulk_producer bulk_tx;
    alignas(64) bulk_consumer bulk_rx;

    // `mine` carries what we send, `theirs` what we receive; both are the same for an endpoint's channel to itself.
    void attach(std::shared_ptr<os::mapping> memory, direction& mine, direction& theirs,
                std::shared_ptr<copy_choice> choice) noexcept {
        memory_ = std::move(memory);
        choice_ = std::move(choice);
        mine_ = &mine;
        theirs_ = &theirs;
        main_tx.attach(mine.ring, mine.eager_data, &mine.ring_released);
        bulk_tx.attach(mine.bulk, mine.bulk_data, &mine.bulk_released);
        main_rx.attach(theirs.ring, theirs.eager_data, &theirs.ring_released);
        bulk_rx.attach(theirs.bulk, theirs.bulk_data, &theirs.bulk_released);
    }

    protocol::copy_way choose_copy(std::uint64_t size, bool can_pull) noexcept {
        return choice_->choose(size, can_pull);
    }
    void record_copy(protocol::copy_way way, std::uint64_t size, std::uint64_t ns) noexcept {
        choice_->record(way, size, ns);
    }
    bool pull(std::byte* to, std::uint64_t from, std::uint64_t n) noexcept { return choice_->pull(to, from, n); }
    const char* mechanism() const noexcept { return choice_ ? choice_->name() : "none"; }

    // Sequentially consistent: our later reuse of buffers must not be seen before the mark, and a puller's check must
    // not be moved before its reads.
    void mark_closed() noexcept { mine_->producer.closed.store(1, std::memory_order_seq_cst); }
    bool producer_closed() const noexcept { return theirs_->producer.closed.load(std::memory_order_seq_cst) != 0; }

  private:
    std::shared_ptr<os::mapping> memory_;
    std::shared_ptr<copy_choice> choice_;  // shared by the channels to one process
    direction* mine_ = nullptr;
    direction* theirs_ = nullptr;
};

}  // namespace weft::shm
