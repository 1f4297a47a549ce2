// Times all backends and a plain copy in one run, and prints ratios only.
#pragma once

#include <chrono>
#include <cstring>

#include "backend.h"

namespace small_compiler {

inline void bench(const Graph& as_written, const Pointers& inputs) {
    constexpr int repeats = 9;
    const Graph graph = optimise(as_written);
    const std::size_t least = least_bytes(graph);
    // A copy of n bytes reads n and writes n: half the bytes make the same traffic.
    std::vector<char> from(least / 2 + 1, 1), to(least / 2 + 1, 2);

    struct Contestant {
        std::string name;
        std::function<float()> run;  // returns something that depends on the result
        std::vector<double> times;
    };
    const auto copy = [&] {
        from[0] = static_cast<char>(from[0] ^ 1);
        std::memcpy(to.data(), from.data(), from.size());
        return static_cast<float>(to.front() + to.back());
    };
    std::vector<Contestant> contestants = {{"plain copy", copy, {}}};
    for (const Backend& backend : backend_table()) {
        const auto run = [&inputs, program = backend.compile(graph)] {
            float seen = 0.0f;
            for (const float* result : program(inputs)) seen += result[0];
            return seen;
        };
        contestants.push_back({backend.name, run, {}});
    }

    volatile float sink = 0.0f;  // results go here: no compiler may drop the work
    for (int round = 0; round <= repeats; ++round) {  // in turn, so that a slow moment of the machine hits all of them
        for (Contestant& contestant : contestants) {
            const auto start = std::chrono::steady_clock::now();
            sink = contestant.run();
            const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
            if (round > 0) contestant.times.push_back(time.count());  // round 0 warms up
        }
    }
    static_cast<void>(sink);

    std::map<std::string, double> median;
    for (Contestant& contestant : contestants) {
        std::sort(contestant.times.begin(), contestant.times.end());
        median[contestant.name] = contestant.times[repeats / 2];
    }
    std::printf("Bytes, counted: at least %zu must be read and written; unfused moves %zu, fused %zu.\n", least,
                bytes_moved(graph, one_loop_per_op(graph)), bytes_moved(graph, fuse(graph)));
    if (least >> 26 == 0) std::printf("Note: that may fit into a cache; larger shapes show what memory costs.\n");
    std::printf("Time as a multiple of the plain copy's (one thread, medians of %d repeats):\n", repeats);
    for (const Contestant& contestant : contestants) {
        std::printf("  %-12s ≈ %.2f\n", contestant.name.c_str(), median[contestant.name] / median["plain copy"]);
    }
    std::printf("Fused against unfused: ≈ %.2f times as fast\n", median["unfused"] / median["fused"]);
    std::printf("Share of the copy's bandwidth that fused reaches: ≈ %.0f %%\n",
                100.0 * median["plain copy"] / median["fused"]);
}

}  // namespace small_compiler
