// One function per subject; the name of one is the argument. Every CHECK can fail: the exit code is then 1.
#include <cstdio>
#include <random>

#include "backend.h"
#include "parser.h"

using namespace small_compiler;

static int failures = 0;
#define CHECK(...)                                                                  \
    do {                                                                            \
        if (!(__VA_ARGS__)) {                                                       \
            std::printf("line %d: CHECK(%s) failed\n", __LINE__, #__VA_ARGS__);     \
            ++failures;                                                             \
        }                                                                           \
    } while (false)

static Graph program(const std::string& text) {
    const ParseResult parsed = parse(text);
    for (const std::string& error : parsed.errors) std::printf("unexpected error in a program: %s\n", error.c_str());
    failures += static_cast<int>(parsed.errors.size());
    return parsed.graph;
}

static std::size_t count_op(const Graph& graph, const std::string& name) {
    std::size_t count = 0;
    for (const Node& node : graph.nodes) count += node.op->name == name;
    return count;
}

static const Node& output(const Graph& graph, std::size_t k = 0) { return graph.nodes[graph.outputs.at(k)]; }
static std::vector<NodeId> ids(std::initializer_list<NodeId> list) { return list; }

// Random inputs for a graph; the tensors live as long as the object.
struct Inputs {
    std::deque<std::vector<float>> tensors;
    Pointers pointers;
    explicit Inputs(const Graph& graph, unsigned seed = 7) {
        std::mt19937 random(seed);
        for (const Node& node : graph.nodes) {
            if (node.op->kind != Kind::Input) continue;
            tensors.emplace_back(elements(node.shape));
            for (float& x : tensors.back()) x = static_cast<float>(random() % 4001) / 1000.0f - 2.0f;
            pointers.push_back(tensors.back().data());
        }
    }
};

static void check_backends(const Graph& graph, const Pointers& inputs) {
    for (const Comparison& comparison : compare_backends(graph, inputs)) {
        if (!comparison.agrees || comparison.difference != 0.0) {
            std::printf("%s differs by %g\n%s", comparison.name.c_str(), comparison.difference, graph.print().c_str());
        }
        CHECK(comparison.agrees);
        CHECK(comparison.difference == 0.0);  // the same bits: see -ffp-contract=off
    }
}

static void test_parser() {
    const Graph graph = program("input x [2, 3]  # a comment\n\n y=add x -1.5e0\nr = sum y\noutput y r\n");
    CHECK(graph.outputs.size() == 2);
    CHECK(output(graph, 0).shape == Shape{2, 3});
    CHECK(output(graph, 1).shape == Shape{2, 1});
    CHECK(count_op(graph, "broadcast") == 1);
    CHECK(graph.nodes[1].value == -1.5f);
    const Graph scalar = program("input x []\ny = mul x 2\noutput y");
    CHECK(output(scalar).shape == Shape{});
}

static void test_parser_errors() {
    const auto errors = [](const std::string& text) { return parse(text).errors; };
    const auto single = [&](const std::string& text, const std::string& start, const std::string& remedy) {
        const std::vector<std::string> found = errors(text);
        const bool good = found.size() == 1 && found[0].find(start) == 0 &&
                          found[0].find("; " + remedy) != std::string::npos;
        if (!good) std::printf("for <%s>: %s\n", text.c_str(), found.empty() ? "no error" : found[0].c_str());
        CHECK(good);
    };
    const std::string x = "input x [2, 3]\n", end = "\noutput x";
    single(x + "y = expp x" + end, "2: unknown op", "choose from:");
    single(x + "y = input x" + end, "2: unknown op", "choose from:");
    single(x + "y = add x" + end, "2: add takes 2", "give it");
    single(x + "y = exp z" + end, "2: unknown name \"z\"", "define it");
    single(x + "x = exp x" + end, "2: \"x\" is defined twice", "choose");
    single(x + "9y = exp x" + end, "2: \"9y\" is not a name", "use letters");
    single(x + "y = add x 1.2.3" + end, "2: \"1.2.3\" is not a number", "write");
    single(x + "y = add x 1e99" + end, "2: \"1e99\" is not a finite", "write");
    single(x + "y = exp x [2, 3]" + end, "2: exp takes no shape", "leave");
    single(x + "y = broadcast x" + end, "2: broadcast needs a shape", "write");
    single(x + "y = broadcast x [2, 4]" + end, "2: broadcast of [2, 3] to [2, 4]", "start");
    single(x + "input w [3, 2]\ny = add x w" + end, "3: add of shapes", "make them equal");
    single(x + "y = sum 1" + end, "2: sum of a scalar", "give it");
    single(x + "what is this" + end, "2: cannot read \"what\"", "write");
    single(x + "y = ]" + end, "2: bad shape", "write");
    single(x + "y = [2]" + end, "2: no op before the shape", "write");
    single(x + "output", "2: output of nothing", "name");
    single(x, "1: the program has no output", "end it");
    for (const char* shape : {"[0]", "[-1]", "[2,]", "[,2]", "[2 3]", "[2,,3]", "[2.5]", "[x]",
                              "[99999999999999999999]", "[65536, 65536]", "2]"}) {
        single(std::string("input x ") + shape + end, "1: bad shape", "write");
    }
    single("input x" + end, "1: an input needs", "write");
    CHECK(errors("input\noutput 1").size() == 2);

    // All at once, and no second message for what follows from a first one.
    CHECK(errors("input x [0]\ny = exp x\nz = foo y\nw = add y 1\noutput w").size() == 2);
}

static void test_folding() {
    const Graph graph = fold_constants(program("input x [2, 3]\na = div 4 5\nb = mul a 10\ny = mul x b\noutput y"));
    CHECK(graph.nodes[output(graph).inputs[1]].op->kind == Kind::Constant);
    CHECK(graph.nodes[output(graph).inputs[1]].value == 0.8f * 10.0f);
    CHECK(graph.nodes[output(graph).inputs[1]].shape == Shape{2, 3});

    const Graph wide = fold_constants(program("c = constant 0.1\nw = broadcast c [2, 1000]\ns = sum w\noutput s"));
    float total = 0.0f;
    for (int i = 0; i < 1000; ++i) total += 0.1f;
    CHECK(output(wide).op->kind == Kind::Constant && output(wide).value == total && output(wide).shape == Shape{2, 1});

    const Graph special = fold_constants(program("a = div 1 0\nb = div -1 0\nc = add a b\nd = relu c\noutput a b d"));
    CHECK(std::isinf(output(special, 0).value) && output(special, 0).value > 0);
    CHECK(std::isinf(output(special, 1).value) && output(special, 1).value < 0);
    CHECK(std::isnan(output(special, 2).value));

    // x * 0 has to stay: x may be NaN.
    CHECK(output(fold_constants(program("input x [2]\ny = mul x 0\noutput y"))).op->name == "mul");
}

static void test_common_subexpressions() {
    const auto merged = [](const std::string& text) {
        return remove_dead_code(merge_common_subexpressions(program(text)));
    };
    const Graph chain = merged("input x [4]\na = exp x\nb = neg a\nc = exp x\nd = neg c\ny = add b d\noutput y d");
    CHECK(count_op(chain, "exp") == 1 && count_op(chain, "neg") == 1);
    CHECK(output(chain).inputs[0] == output(chain).inputs[1] && output(chain).inputs[0] == chain.outputs[1]);
    CHECK(count_op(merged("input x [4]\ninput z [4]\na = sub x z\nb = sub z x\ny = mul a b\noutput y"), "sub") == 2);
    CHECK(count_op(merged("input x [4]\ninput z [4]\na = exp x\nb = exp z\ny = mul a b\noutput y"), "exp") == 2);
    CHECK(count_op(merged("a = constant 0\nb = constant -0\nc = constant 0\noutput a b c"), "constant") == 2);
}

static void test_dead_code() {
    const Graph graph =
        remove_dead_code(program("input u [9]\ninput x [4]\na = exp x\nb = neg a\ny = sqrt x\noutput y"));
    CHECK(graph.nodes.size() == 3);  // u stays: the caller hands it in
    CHECK(count_op(graph, "input") == 2 && count_op(graph, "exp") == 0 && count_op(graph, "neg") == 0);
    CHECK(output(graph).op->name == "sqrt" && graph.nodes[output(graph).inputs[0]].name == "x");
}

static void test_fusion() {
    const Graph chain = program("input x [8, 4]\na = exp x\nb = neg a\ny = mul b x\noutput y");
    CHECK(one_loop_per_op(chain).size() == 3 && bytes_moved(chain, one_loop_per_op(chain)) == 7 * 32 * 4);
    const Schedule fused = fuse(chain);
    CHECK(fused.size() == 1 && fused[0].reads == ids({0}) && fused[0].writes == chain.outputs);
    CHECK(bytes_moved(chain, fused) == 2 * 32 * 4 && least_bytes(chain) == 2 * 32 * 4);

    // A reduction ends its group; what uses it is in the next one, and what both need is stored.
    const Graph softmax = program("input x [8, 4]\ne = exp x\ns = sum e\ny = div e s\noutput y");  // 3: a broadcast
    const Schedule two = fuse(softmax);
    CHECK(two.size() == 2 && two[0].members == ids({1, 2}) && two[1].members == ids({4}));
    CHECK(two[0].writes == ids({1, 2}) && two[1].reads == ids({1, 2}));

    // n does not need the sum and joins the first loop; y needs both and must not be pulled in front of the sum.
    const Graph diamond = program("input x [8, 4]\ns = sum x\nt = neg s\nn = neg x\ny = add n t\noutput y");
    const Schedule three = fuse(diamond);
    CHECK(three.size() == 3 && three[0].members == ids({1, 3}) && three[1].members == ids({2}));
    CHECK(three[1].rows == 8 && three[1].columns == 1 && three[2].columns == 4);

    CHECK(fuse(program("input x [8, 4]\ninput z [4, 8]\na = exp x\nb = exp z\noutput a b")).size() == 2);
}

static void test_generated_text() {
    const Graph graph = program("input x [8, 4]\na = mul x -2\nb = neg -1\nc = add a b\ns = sum c\noutput s");
    const std::string text = generate(graph, fuse(graph));
    CHECK(text.find("v0 * (-2.0f)") != std::string::npos);
    CHECK(text.find("-(-1.0f)") != std::string::npos);
    CHECK(text.find("row < 8") != std::string::npos && text.find("col < 4") != std::string::npos);
    CHECK(text.find("p1") == std::string::npos);  // a is local: no buffer
}

static void test_backends_agree() {
    for (const char* text : {
             "input x [3, 5]\na = add x 1\nb = sub a x\nc = mul b x\nd = div c a\ne = neg d\nf = exp e\ng = relu e\n"
             "h = sqrt g\ni = add f h\ns = sum i\nt = div i s\noutput t s e",
             "input x []\ny = exp x\noutput y",                                                 // a scalar
             "input x [7]\ninput s []\na = mul x s\nt = sum a\ny = div a t\noutput y",           // rank 1
             "input x [2, 3, 4]\nm = sum x\nd = sub x m\nq = mul d d\nv = sum q\noutput d v",    // rank 3
             "input x [6, 1]\ns = sum x\ny = sub x s\nz = sum y\noutput y z",                    // one column
             "input x [1, 6]\ns = sum x\ny = sub x s\noutput y",                                 // one row
             "input x [2, 3]\nc = constant 3\nw = broadcast c [2, 2]\ns = sum x\nb = broadcast s [2, 4]\n"
             "d = add b 1\noutput x c w b b d",                                                  // outputs without work
             "input x [2, 1]\nb = broadcast x [2, 3]\nt = sum b\nr = sum t\noutput r",           // sum over a view
             "input unused [2]\ninput x [4, 3]\ns = sum x\nt = sum s\nu = sqrt t\ny = add x u\nz = exp x\noutput z y",
             "a = div 1 3\noutput a",                                                            // no input at all
         }) {
        const Graph graph = program(text);
        const Inputs inputs(graph);
        check_backends(graph, inputs.pointers);
    }
}

static void test_special_values() {
    const float inf = INFINITY, nan = NAN;
    const Graph graph = program("input x [2, 4]\ninput z [2, 4]\nq = div x z\nr = relu q\nw = sqrt x\ne = exp x\n"
                                "s = sum q\nc = div 0 0\nd = mul x c\nm = mul x 0\n"
                                "i = div 1 -0\noutput q r w e s d m i");
    const std::vector<float> x = {1, -1, 0, nan, inf, -inf, -0.0f, 3}, z = {0, 0, 0, 1, inf, -0.0f, 1, 2};
    const Pointers inputs = {x.data(), z.data()};
    check_backends(graph, inputs);
    for (const Backend& backend : backend_table()) {
        const Program compiled = backend.compile(optimise(graph));
        const Pointers out = compiled(inputs);
        CHECK(out[0][0] == inf && out[0][1] == -inf && std::isnan(out[0][2]) && std::isnan(out[0][3]));
        CHECK(out[0][5] == inf && out[0][7] == 1.5f);
        CHECK(out[1][0] == inf && out[1][1] == 0.0f && std::isnan(out[1][2]));   // relu keeps NaN
        CHECK(std::isnan(out[2][1]) && out[2][2] == 0.0f && std::isnan(out[2][3]) && out[2][4] == inf);
        CHECK(out[3][4] == inf && out[3][5] == 0.0f);
        CHECK(std::isnan(out[4][0]) && std::isnan(out[4][1]));
        CHECK(std::isnan(out[5][0]) && std::isnan(out[6][3]) && std::isnan(out[6][4]) && out[6][0] == 0.0f);
        CHECK(out[7][0] == -inf);
    }
}

static void test_new_op() {
    CHECK(parse("input x [2]\ny = clamp x\noutput y").errors.size() == 1);
    // As a reader would do it in ops.h: one line per op, nothing else. The comma in fmax(a, -1) is there on purpose.
    op_table().push_back(ELEMENTWISE("clamp", 1, std::fmin(std::fmax(a, -1.0f), 1.0f)));
    op_table().push_back(ELEMENTWISE("average", 2, 0.5f * (a + b)));
    op_table().push_back(REDUCTION("max", -INFINITY, a < b || b != b ? b : a));
    const Graph graph = program("input x [4, 9]\nm = max x\nd = sub x m\ne = exp d\ns = sum e\ny = div e s\n"
                                "c = clamp x\nh = average c y\nk = average 1 2\noutput y h k m");
    const Inputs inputs(graph);
    check_backends(graph, inputs.pointers);
    const std::vector<float>& x = inputs.tensors[0];
    for (const Backend& backend : backend_table()) {
        const Program compiled = backend.compile(optimise(graph));
        const Pointers out = compiled(inputs.pointers);
        CHECK(out[3][1] == *std::max_element(x.begin() + 9, x.begin() + 18));
        CHECK(out[1][0] == 0.5f * (std::min(std::max(x[0], -1.0f), 1.0f) + out[0][0]));
        CHECK(out[2][0] == 1.5f);
    }
}

static void test_new_backend() {
    const Graph graph = program("input x [4]\ny = exp x\noutput y");
    const Inputs inputs(graph);
    // One that is right, one that is wrong, one that hides NaN: the comparison must tell them apart.
    backend_table().push_back({"right", interpret});
    const auto wrong = [](float value) {
        return [value](const Graph& g) -> Program {
            return [value, result = std::make_shared<std::vector<float>>(), inner = interpret(g)](const Pointers& in) {
                result->assign(inner(in)[0], inner(in)[0] + 4);
                result->back() = value;
                return Pointers{result->data()};
            };
        };
    };
    backend_table().push_back({"wrong", wrong(1e6f)});
    backend_table().push_back({"not a number", wrong(NAN)});
    const std::vector<Comparison> found = compare_backends(graph, inputs.pointers);
    CHECK(found.size() == 6);
    for (std::size_t i = 0; i < 4; ++i) CHECK(found[i].agrees);
    CHECK(found[3].name == "right" && !found[4].agrees && found[4].difference > 9e5);
    CHECK(!found[5].agrees && std::isinf(found[5].difference));
}

// Graphs that nobody thought of: many nodes over shapes that can be mixed, several outputs.
static void test_random_graphs() {
    const std::vector<std::string> unary = {"neg", "exp", "relu", "sqrt", "sum"}, binary = {"add", "sub", "mul", "div"};
    for (unsigned seed = 1; seed <= 4; ++seed) {
        std::mt19937 random(seed);
        std::string text = "input i0 [3, 8]\ninput i1 [3, 1]\ninput i2 []\n";
        std::vector<std::string> names = {"i0", "i1", "i2"};
        for (int n = 0; n < 60; ++n) {
            const auto pick = [&](const std::vector<std::string>& from) { return from[random() % from.size()]; };
            const std::string name = "v" + std::to_string(n), a = pick(names);
            const std::string b = pick(random() % 4 ? names : std::vector<std::string>{"2", "-0.5", "1"});
            const bool two = random() % 3 != 0;
            const std::string line = name + " = " + (two ? pick(binary) + " " + a + " " + b : pick(unary) + " " + a);
            if (!parse(text + line + "\noutput " + name).errors.empty()) continue;  // the sum of a scalar, for example
            text += line + "\n";
            names.push_back(name);
        }
        text += "output";
        for (std::size_t i = 3; i < names.size(); i += 5) text += " " + names[i];
        const Graph graph = program(text);
        CHECK(graph.nodes.size() > 40);
        const Inputs inputs(graph, seed);
        check_backends(graph, inputs.pointers);
        // NaN spreads and equals NaN, so a test that saw nothing else would prove nothing.
        const Program reference = interpret(graph);
        int finite = 0;
        for (const float* result : reference(inputs.pointers)) finite += std::isfinite(result[0]);
        CHECK(finite >= 5);
    }
}

int main(int argc, char** argv) {
    const std::map<std::string, void (*)()> tests = {
        {"parser", test_parser}, {"parser_errors", test_parser_errors}, {"folding", test_folding},
        {"common_subexpressions", test_common_subexpressions}, {"dead_code", test_dead_code}, {"fusion", test_fusion},
        {"generated_text", test_generated_text}, {"backends_agree", test_backends_agree},
        {"special_values", test_special_values}, {"new_op", test_new_op}, {"new_backend", test_new_backend},
        {"random_graphs", test_random_graphs}};
    const auto chosen = tests.find(argc == 2 ? argv[1] : "");
    if (chosen == tests.end()) {
        std::printf("give the name of one test:");
        for (const auto& [name, test] : tests) std::printf(" %s", name.c_str());
        std::printf("\n");
        return 2;
    }
    chosen->second();
    return failures == 0 ? 0 : 1;
}
