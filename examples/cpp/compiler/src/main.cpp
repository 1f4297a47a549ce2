// small_compiler FILE [--passes] [--code] [--run] [--bench]
// Exit codes: 0 all is well, 1 the backends disagree, 2 the command line, the program or the machine needs a change.
#include <set>

#include "bench.h"
#include "parser.h"

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

static bool run_all(const Graph& graph, const Pointers& inputs) {
    bool all_agree = true;
    const std::vector<Comparison> comparisons = compare_backends(graph, inputs);
    std::printf("Largest absolute difference from the interpreter on the graph as written:\n");
    for (const Comparison& each : comparisons) {
        std::printf("  %-12s ≈ %g%s\n", each.name.c_str(), each.difference, each.agrees ? "" : "  DISAGREES");
        all_agree = all_agree && each.agrees;
    }
    return all_agree;
}

int main(int argc, char** argv) {
    const std::set<std::string> known = {"--passes", "--code", "--run", "--bench"};
    const std::set<std::string> options(argv + std::min(argc, 2), argv + argc);
    if (options.empty() || !std::includes(known.begin(), known.end(), options.begin(), options.end())) {
        std::fprintf(stderr, "usage: small_compiler FILE [--passes] [--code] [--run] [--bench]; give at least one\n");
        return 2;
    }
    std::ifstream file(argv[1]);
    std::stringstream text;
    if (!(text << file.rdbuf())) {
        std::fprintf(stderr, "%s: cannot be read, or is empty; give the path of a program\n", argv[1]);
        return 2;
    }
    const auto [graph, errors] = parse(text.str());
    for (const std::string& error : errors) std::fprintf(stderr, "%s:%s\n", argv[1], error.c_str());
    if (!errors.empty()) return 2;
    try {
        if (options.count("--passes")) show_passes(graph);
        if (options.count("--code")) show_code(optimise(graph));
        if (!options.count("--run") && !options.count("--bench")) return 0;

        std::mt19937 random(1);  // always the same numbers: a difference that shows up once shows up again
        std::uniform_real_distribution<float> uniform(-2.0f, 2.0f);
        std::deque<std::vector<float>> tensors;
        Pointers inputs;
        for (const Node& node : graph.nodes) {
            if (node.op->kind != Kind::Input) continue;
            tensors.emplace_back(elements(node.shape));
            for (float& element : tensors.back()) element = uniform(random);
            inputs.push_back(tensors.back().data());
        }
        if (options.count("--run") && !run_all(graph, inputs)) return 1;
        if (options.count("--bench")) bench(graph, inputs);
    } catch (const EnvironmentError& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "%s: not enough memory; take smaller shapes\n", argv[1]);
        return 2;
    }
    return 0;
}
