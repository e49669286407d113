// What the measuring tools count with: a histogram for percentiles and medians of small samples.
//
// The histogram is log-linear in the manner of HdrHistogram (Gil Tene): every power of two is cut into 64 equal
// parts, so a percentile is off by at most 1/128 of its value. Recording is a few instructions and never allocates.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::tool {

class histogram {
  public:
    // Larger values count as this one. In nanoseconds: 18 minutes, longer than any run of a tool.
    static constexpr std::uint64_t value_max = (std::uint64_t{1} << 40) - 1;

    void record(std::uint64_t value) noexcept { record(value, 1); }

    void record(std::uint64_t value, std::uint64_t times) noexcept {
        if (times == 0) return;
        value = std::min(value, value_max);
        counts_[index_of(value)] += times;
        count_ += times;
        min_ = std::min(min_, value);
        max_ = std::max(max_, value);
    }

    void merge(const histogram& other) noexcept {
        for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
        count_ += other.count_;
        min_ = std::min(min_, other.min_);
        max_ = std::max(max_, other.max_);
    }

    void clear() noexcept { *this = histogram{}; }

    std::uint64_t count() const noexcept { return count_; }
    std::uint64_t min() const noexcept { return count_ == 0 ? 0 : min_; }
    std::uint64_t max() const noexcept { return max_; }

    // The smallest recorded value that at least `percent` of all values do not exceed, to the resolution of a
    // bucket (its middle is returned, held within what was really seen). 0 when nothing was recorded.
    std::uint64_t percentile(double percent) const noexcept {
        if (count_ == 0) return 0;
        const double exact = std::clamp(percent, 0.0, 100.0) / 100.0 * static_cast<double>(count_);
        std::uint64_t rank = static_cast<std::uint64_t>(exact);
        if (static_cast<double>(rank) < exact) ++rank;
        rank = std::clamp<std::uint64_t>(rank, 1, count_);
        std::uint64_t seen = 0;
        for (std::size_t i = 0; i < counts_.size(); ++i) {
            seen += counts_[i];
            if (seen >= rank) return std::clamp(middle_of(i), min_, max_);
        }
        return max_;
    }

  private:
    static constexpr unsigned part_bits = 6;  // 64 parts per power of two: an error below 0.8 %
    static constexpr std::uint64_t parts = std::uint64_t{1} << part_bits;
    // index_of(value_max) + 1: the parts of each power of two from 2^6 to 2^39, after 64 exact small values.
    static constexpr std::size_t bucket_count = (40 - part_bits + 1) * parts;

    static constexpr std::size_t index_of(std::uint64_t value) noexcept {
        if (value < 2 * parts) return static_cast<std::size_t>(value);  // exact below 128
        const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - (part_bits + 1);
        return static_cast<std::size_t>(shift * parts + (value >> shift));
    }

    static constexpr std::uint64_t middle_of(std::size_t index) noexcept {
        if (index < 2 * parts) return index;
        const std::uint64_t shift = index / parts - 1;
        const std::uint64_t lowest = (index - shift * parts) << shift;
        return lowest + ((std::uint64_t{1} << shift) >> 1);
    }

    std::array<std::uint64_t, bucket_count> counts_{};
    std::uint64_t count_ = 0;
    std::uint64_t min_ = ~std::uint64_t{0};
    std::uint64_t max_ = 0;
};

// The middle value (the lower mean of two is not taken: the upper one is). 0 for nothing. Reorders its argument.
template <class T>
T median(std::vector<T>& values) noexcept {
    if (values.empty()) return T{};
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace weft::tool
