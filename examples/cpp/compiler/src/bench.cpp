#include "bench.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string>

#include "backend.h"
#include "passes.h"
#include "schedule.h"

namespace small_compiler {

constexpr int kRepeats = 9;

static double median(std::vector<double> times) {
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    return times[times.size() / 2];
}

void bench(const Graph& as_written, const std::vector<const float*>& inputs) {
    const Graph graph = optimise(as_written);
    const std::size_t least = least_bytes(graph);
    // A copy of n bytes reads n and writes n, so half the bytes make the same traffic.
    std::vector<char> from(least / 2 + 1, 1), to(least / 2 + 1, 2);

    struct Contestant {
        std::string name;
        std::function<float()> run;  // returns something that depends on the result
        std::vector<double> times;
    };
    std::vector<Contestant> contestants;
    contestants.push_back({"plain copy", [&] {
                               from[0] = static_cast<char>(from[0] + 1);
                               std::memcpy(to.data(), from.data(), least / 2 + 1);
                               return static_cast<float>(to[0] + to[least / 2]);
                           }, {}});
    for (const Backend& backend : backend_table()) {
        contestants.push_back({backend.name, [&, program = backend.compile(graph)] {
                                   float seen = 0.0f;
                                   for (const float* result : program(inputs)) seen += result[0];
                                   return seen;
                               }, {}});
    }

    volatile float sink = 0.0f;  // results go here, so that no compiler may drop the work
    // Round 0 is not counted: it touches every buffer once. In turn, so that a slow moment of the machine hits all.
    for (int round = 0; round <= kRepeats; ++round) {
        for (Contestant& contestant : contestants) {
            const auto start = std::chrono::steady_clock::now();
            sink = contestant.run();
            const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
            if (round > 0) contestant.times.push_back(time.count());
        }
    }
    static_cast<void>(sink);

    std::map<std::string, double> time;
    for (const Contestant& contestant : contestants) time[contestant.name] = median(contestant.times);
    std::printf("At least %zu bytes must be read and written. Medians of %d repeats, taken in turn, one thread.\n", least,
                kRepeats);
    if (least < std::size_t{64} << 20) {
        std::printf("Note: this may fit into the caches; take larger shapes to see what memory costs.\n");
    }
    std::printf("Bytes moved, counted: unfused %zu, fused %zu\n", bytes_moved(graph, one_loop_per_op(graph)),
                bytes_moved(graph, fuse(graph)));
    std::printf("Time, as a multiple of the plain copy's:\n");
    for (const Contestant& contestant : contestants) {
        std::printf("  %-12s ≈ %.2f\n", contestant.name.c_str(), time[contestant.name] / time["plain copy"]);
    }
    std::printf("Fused against unfused: ≈ %.2f times as fast\n", time["unfused"] / time["fused"]);
    std::printf("Share of the copy's bandwidth that fused reaches: ≈ %.0f %%\n",
                100.0 * time["plain copy"] / time["fused"]);
}

}  // namespace small_compiler
