// From a schedule to C++ text: one function per group, and a function "run" that calls them in order.
#pragma once

#include <cctype>

#include "schedule.h"

namespace small_compiler {

// run() gets one pointer per node of the graph; those of values that never reach memory may be null.
using RunFunction = void (*)(float* const* buffers);

inline std::string literal(float number) {
    if (std::isnan(number)) return "NAN";
    if (std::isinf(number)) return number > 0 ? "INFINITY" : "(-INFINITY)";
    std::string text = to_string(number);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text[0] == '-' ? "(" + text + "f)" : text + "f";  // without brackets, -a could become the operator --
}

class GroupPrinter {
  public:
    GroupPrinter(const Graph& graph, const Group& group) : graph_(graph), group_(group) {
        // One flat loop is easier to vectorise than two nested ones, above all where rows are short. It will do as long
        // as nothing depends on where a row starts.
        for (NodeId id : group.members) flat_ = flat_ && !is_reduction(id);
        for (NodeId id : group.reads) flat_ = flat_ && (size(id) == group.rows * group.columns || size(id) == 1);
    }

    std::string print(const std::string& function) {
        // __restrict promises that no two buffers overlap. Without it, any store might change what is loaded next.
        text_ = "extern \"C\" void " + function + "(" +
                arguments("const float* __restrict p", "float* __restrict p", "") + ") {\n";
        if (flat_) {
            text_ += "    for (std::size_t i = 0; i < " + std::to_string(group_.rows * group_.columns) + "; ++i) {\n";
            print_body(8);
        } else {
            text_ += "    for (std::size_t row = 0; row < " + std::to_string(group_.rows) + "; ++row) {\n";
            for (NodeId id : group_.members) {
                if (is_reduction(id)) line(8, id, "float " + value(id) + " = " + literal(graph_.nodes[id].op->start));
            }
            text_ += "        for (std::size_t col = 0; col < " + std::to_string(group_.columns) + "; ++col) {\n";
            print_body(12);
            text_ += "        }\n";
            for (NodeId id : group_.writes) {
                if (is_reduction(id)) line(8, id, "p" + std::to_string(id) + "[row] = " + value(id));
            }
        }
        return text_ + "    }\n}\n\n";
    }

    std::string arguments(const std::string& read, const std::string& write, const std::string& end) const {
        std::string list;
        for (NodeId id : group_.reads) list += (list.empty() ? "" : ", ") + read + std::to_string(id) + end;
        for (NodeId id : group_.writes) list += (list.empty() ? "" : ", ") + write + std::to_string(id) + end;
        return list;
    }

  private:
    bool is_reduction(NodeId id) const { return graph_.nodes[id].op->kind == Kind::Reduction; }
    std::size_t size(NodeId id) const { return elements(graph_.nodes[id].shape); }
    static std::string value(NodeId id) { return "v" + std::to_string(id); }

    void line(std::size_t indent, NodeId id, const std::string& code) {
        text_ += std::string(indent, ' ') + code + ";  // " + graph_.nodes[id].name + "\n";
    }

    // Loads, arithmetic, stores. Everything in between is a local variable, which the compiler keeps in a register.
    void print_body(std::size_t indent) {
        for (NodeId id : group_.reads) line(indent, id, "const float " + value(id) + " = " + in_memory(id));
        for (NodeId id : group_.members) {
            const Node& node = graph_.nodes[id];
            const std::string constant = "const float " + value(id) + " = ";
            if (node.op->kind == Kind::Reduction) {
                line(indent, id, value(id) + " = " + expression(*node.op, value(id), operand(node.inputs[0])));
            } else if (node.op->kind == Kind::Elementwise) {
                const std::string a = operand(node.inputs.front()), b = operand(node.inputs.back());
                line(indent, id, constant + expression(*node.op, a, b));
            } else {  // a constant or a broadcast that the caller asks for
                line(indent, id, constant + operand(id));
            }
        }
        for (NodeId id : group_.writes) {
            if (!is_reduction(id)) line(indent, id, in_memory(id) + " = " + value(id));
        }
    }

    std::string in_memory(NodeId id) const {
        const std::string pointer = "p" + std::to_string(id);
        if (size(id) != group_.rows * group_.columns) return pointer + (size(id) == 1 ? "[0]" : "[row]");
        return pointer + (flat_ ? "[i]" : "[row * " + std::to_string(group_.columns) + " + col]");
    }

    std::string operand(NodeId id) const {
        const NodeId source = look_through_broadcasts(graph_, id);
        const Node& node = graph_.nodes[source];
        return node.op->kind == Kind::Constant ? literal(node.value) : value(source);
    }

    // Puts operands in the place of the words a and b; the a of "std::max" is not a word.
    static std::string expression(const Op& op, const std::string& a, const std::string& b) {
        std::string text, word;
        for (char c : op.code + ";") {
            if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
                word += c;
            } else {
                text += (word == "a" ? a : word == "b" ? b : word) + c;
                word.clear();
            }
        }
        text.pop_back();  // the ";" that ended the last word
        return text;
    }

    const Graph& graph_;
    const Group& group_;
    bool flat_ = true;
    std::string text_;
};

inline std::string generate(const Graph& graph, const Schedule& schedule) {
    std::string functions, calls;
    for (const Group& group : schedule) {
        GroupPrinter printer(graph, group);
        const std::string function = "group_" + std::to_string(&group - schedule.data());
        functions += printer.print(function);
        calls += "    " + function + "(" + printer.arguments("buffers[", "buffers[", "]") + ");\n";
    }
    return "#include <cmath>\n#include <cstddef>\n\n" + functions + "extern \"C\" void run(float* const* buffers) {\n" +
           calls + "}\n";
}

}  // namespace small_compiler
