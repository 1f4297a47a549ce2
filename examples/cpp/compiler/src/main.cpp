// small_compiler FILE [--passes] [--code] [--run] [--bench]
// Exit codes: 0 all went well, 1 backends disagree, 2 the command line, the program or the machine needs a change.
#include <cstdio>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include "backend.h"
#include "bench.h"
#include "codegen.h"
#include "parser.h"
#include "passes.h"
#include "shared_object.h"

using namespace small_compiler;

static void show_passes(Graph graph) {
    std::printf("graph as written\n%s", graph.print().c_str());
    for (const Pass& pass : passes()) {
        graph = pass.run(std::move(graph));
        std::printf("\nafter %s\n%s", pass.name, graph.print().c_str());
    }
    std::printf("\nbefore fusion\n%s", print(graph, one_loop_per_op(graph)).c_str());
    std::printf("\nafter fusion\n%s", print(graph, fuse(graph)).c_str());
}

static void show_code(const Graph& graph) {
    std::printf("// ---- unfused ----\n%s\n", generate(graph, one_loop_per_op(graph)).c_str());
    std::printf("// ---- fused ----\n%s", generate(graph, fuse(graph)).c_str());
}

static bool run_all(const Graph& graph, const std::vector<const float*>& inputs) {
    bool all_agree = true;
    std::printf("Largest absolute difference from the interpreter on the graph as written:\n");
    for (const Comparison& comparison : compare_backends(graph, inputs)) {
        std::printf("  %-12s ≈ %g%s\n", comparison.name.c_str(), comparison.difference,
                    comparison.agrees ? "" : "  DISAGREES");
        all_agree = all_agree && comparison.agrees;
    }
    return all_agree;
}

int main(int argc, char** argv) {
    const std::set<std::string> known = {"--passes", "--code", "--run", "--bench"};
    std::set<std::string> options(argv + (argc > 2 ? 2 : argc), argv + argc);
    bool usage_ok = !options.empty();
    for (const std::string& option : options) usage_ok = usage_ok && known.count(option);
    if (!usage_ok) {
        std::fprintf(stderr, "usage: small_compiler FILE [--passes] [--code] [--run] [--bench], at least one of them\n");
        return 2;
    }
    std::ifstream file(argv[1]);
    std::stringstream text;
    if (!file || !(text << file.rdbuf())) {
        std::fprintf(stderr, "%s: cannot be read, or is empty; give the path of a program\n", argv[1]);
        return 2;
    }
    const ParseResult parsed = parse(text.str());
    for (const std::string& error : parsed.errors) std::fprintf(stderr, "%s:%s\n", argv[1], error.c_str());
    if (!parsed.errors.empty()) return 2;

    // Always the same random numbers: a difference that shows up once shows up again.
    std::mt19937 random(1);
    std::uniform_real_distribution<float> uniform(-2.0f, 2.0f);
    std::vector<std::vector<float>> tensors;
    std::vector<const float*> inputs;
    if (options.count("--run") || options.count("--bench")) {
        for (NodeId id : parsed.graph.input_nodes()) {
            tensors.emplace_back(elements(parsed.graph.nodes[id].shape));
            for (float& element : tensors.back()) element = uniform(random);
            inputs.push_back(tensors.back().data());
        }
    }
    try {
        if (options.count("--passes")) show_passes(parsed.graph);
        if (options.count("--code")) show_code(optimise(parsed.graph));
        if (options.count("--run") && !run_all(parsed.graph, inputs)) return 1;
        if (options.count("--bench")) bench(parsed.graph, inputs);
    } catch (const EnvironmentError& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
    return 0;
}
