#include "codegen.h"

#include <algorithm>
#include <cmath>
#include <regex>
#include <sstream>

namespace small_compiler {
namespace {

std::string pointer(NodeId id) { return "p" + std::to_string(id); }
std::string value(NodeId id) { return "v" + std::to_string(id); }

std::string literal(float number) {
    if (std::isnan(number)) return "NAN";
    if (std::isinf(number)) return number > 0 ? "INFINITY" : "(-INFINITY)";
    std::string text = to_string(number);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    text += "f";
    return text[0] == '-' ? "(" + text + ")" : text;  // without the brackets, -a would become the operator --
}

class GroupPrinter {
  public:
    GroupPrinter(const Graph& graph, const Group& group) : graph_(graph), group_(group) {
        // One flat loop is easier to vectorise than two nested ones, above all when rows are short. It will do unless
        // the code has to know where a row starts.
        const auto whole_or_single = [&](NodeId id) {
            const std::size_t size = elements(graph.nodes[id].shape);
            return size == group.rows * group.columns || size == 1;
        };
        flat_ = std::none_of(group.members.begin(), group.members.end(), [&](NodeId id) { return is_reduction(id); }) &&
                std::all_of(group.reads.begin(), group.reads.end(), whole_or_single);
    }

    std::string print(std::size_t number) {
        // __restrict: no two buffers overlap. Without that promise each store might change the next load.
        text_ << "extern \"C\" void group_" << number << "(" << arguments("const float* __restrict p", "float* __restrict p", "")
              << ") {\n";
        if (flat_) {
            text_ << "    for (std::size_t i = 0; i < " << group_.rows * group_.columns << "; ++i) {\n";
            body();
            text_ << "    }\n";
        } else {
            text_ << "    for (std::size_t row = 0; row < " << group_.rows << "; ++row) {\n";
            for (NodeId id : group_.members) {
                if (is_reduction(id)) line(8, "float " + value(id) + " = " + literal(graph_.nodes[id].op->start), id);
            }
            text_ << "        for (std::size_t col = 0; col < " << group_.columns << "; ++col) {\n";
            body();
            text_ << "        }\n";
            for (NodeId id : group_.writes) {
                if (is_reduction(id)) line(8, pointer(id) + "[row] = " + value(id), id);
            }
            text_ << "    }\n";
        }
        text_ << "}\n\n";
        return text_.str();
    }

    std::string arguments(const std::string& read, const std::string& write, const std::string& end) const {
        std::string list;
        for (NodeId id : group_.reads) list += (list.empty() ? "" : ", ") + read + std::to_string(id) + end;
        for (NodeId id : group_.writes) list += (list.empty() ? "" : ", ") + write + std::to_string(id) + end;
        return list;
    }

  private:
    bool is_reduction(NodeId id) const { return graph_.nodes[id].op->kind == Kind::Reduction; }

    void line(int indent, const std::string& code, NodeId id) {
        text_ << std::string(static_cast<std::size_t>(indent), ' ') << code << ";  // " << graph_.nodes[id].name << "\n";
    }

    // Where the value of a node lies in memory at this point of the loop.
    std::string element(NodeId id) const {
        const std::size_t size = elements(graph_.nodes[id].shape);
        if (size == group_.rows * group_.columns) {
            return pointer(id) + (flat_ ? "[i]" : "[row * " + std::to_string(group_.columns) + " + col]");
        }
        return pointer(id) + (size == 1 ? "[0]" : "[row]");
    }

    std::string operand(NodeId id) const {
        const NodeId source = look_through_broadcasts(graph_, id);
        const Node& node = graph_.nodes[source];
        return node.op->kind == Kind::Constant ? literal(node.value) : value(source);
    }

    std::string expression(NodeId id, const std::string& a, const std::string& b) const {
        static const std::regex word_a("\\ba\\b"), word_b("\\bb\\b");
        return std::regex_replace(std::regex_replace(graph_.nodes[id].op->code, word_a, a), word_b, b);
    }

    // Loads, arithmetic, stores. All values in between are local variables, and live in registers.
    void body() {
        const int indent = flat_ ? 8 : 12;
        for (NodeId id : group_.reads) line(indent, "const float " + value(id) + " = " + element(id), id);
        for (NodeId id : group_.members) {
            const Node& node = graph_.nodes[id];
            const std::string declaration = "const float " + value(id) + " = ";
            switch (node.op->kind) {
                case Kind::Reduction:
                    line(indent, value(id) + " = " + expression(id, value(id), operand(node.inputs[0])), id);
                    break;
                case Kind::Elementwise:
                    line(indent, declaration + expression(id, operand(node.inputs.front()), operand(node.inputs.back())), id);
                    break;
                default:  // a constant or a broadcast that the caller wants to see
                    line(indent, declaration + operand(id), id);
            }
        }
        for (NodeId id : group_.writes) {
            if (!is_reduction(id)) line(indent, element(id) + " = " + value(id), id);
        }
    }

    const Graph& graph_;
    const Group& group_;
    bool flat_;
    std::ostringstream text_;
};

}  // namespace

std::string generate(const Graph& graph, const Schedule& schedule) {
    std::string functions, calls;
    for (std::size_t g = 0; g < schedule.size(); ++g) {
        GroupPrinter printer(graph, schedule[g]);
        functions += printer.print(g);
        calls += "    group_" + std::to_string(g) + "(" + printer.arguments("buffers[", "buffers[", "]") + ");\n";
    }
    return "#include <cmath>\n#include <cstddef>\n\n" + functions + "extern \"C\" void run(float* const* buffers) {\n" +
           calls + "}\n";
}

}  // namespace small_compiler
