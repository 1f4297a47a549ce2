// The one table of operations. Everything else asks this table: no other file knows an op with arithmetic by name.
#pragma once

#include <cmath>
#include <deque>
#include <string>

namespace small_compiler {

enum class Kind {
    Input,        // a tensor that the caller hands in
    Constant,     // one value, repeated over the whole shape
    Broadcast,    // the same values read again and again: a view, no arithmetic
    Elementwise,  // each element of the result needs one element of each operand
    Reduction,    // a row becomes one value: the last dimension shrinks to 1
};

struct Op {
    std::string name;
    Kind kind;
    int arity;
    // How to interpret an element. With arity 1, b is ignored. A reduction combines its result so far (a) with the next
    // element (b).
    float (*apply)(float a, float b);
    std::string code;    // how to print it as C++: the same expression as text
    float start = 0.0f;  // reductions only: what an empty row would give
};

// An expression is written once and kept twice: as a function for the interpreter, as text for the code generator. It
// takes a macro, because only a macro sees the text. Written by hand, the two would drift apart sooner or later.
#define EXPRESSION(...) \
    []([[maybe_unused]] float a, [[maybe_unused]] float b) -> float { return __VA_ARGS__; }, #__VA_ARGS__
#define ELEMENTWISE(name, arity, ...) {name, ::small_compiler::Kind::Elementwise, arity, EXPRESSION(__VA_ARGS__)}
#define REDUCTION(name, start, ...) {name, ::small_compiler::Kind::Reduction, 1, EXPRESSION(__VA_ARGS__), start}

// A deque, because nodes keep pointers into the table, and push_back on a deque moves nothing.
inline std::deque<Op>& op_table() {
    // To add an op, add a line here. The parser, the passes, the interpreter and the code generator need no change.
    static std::deque<Op> table = {
        {"input", Kind::Input, 0, nullptr, ""},
        {"constant", Kind::Constant, 0, nullptr, ""},
        {"broadcast", Kind::Broadcast, 1, nullptr, ""},
        ELEMENTWISE("add", 2, a + b),
        ELEMENTWISE("sub", 2, a - b),
        ELEMENTWISE("mul", 2, a * b),
        ELEMENTWISE("div", 2, a / b),
        ELEMENTWISE("neg", 1, -a),
        ELEMENTWISE("exp", 1, std::exp(a)),
        // Not "a > 0 ? a : 0": every comparison with NaN is false, so that would turn NaN into 0 and hide it.
        ELEMENTWISE("relu", 1, a < 0.0f ? 0.0f : a),
        ELEMENTWISE("sqrt", 1, std::sqrt(a)),
        REDUCTION("sum", 0.0f, a + b),
    };
    return table;
}

inline const Op* find_op(const std::string& name) {
    for (const Op& op : op_table()) {
        if (op.name == name) return &op;
    }
    return nullptr;
}

}  // namespace small_compiler
