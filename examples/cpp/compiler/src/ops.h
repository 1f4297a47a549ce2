// The one table of operations. Everything else asks this table; nothing else knows an op by name,
// apart from the three that have no arithmetic: input, constant and broadcast.
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
    // How to interpret an element. Element-wise ops of arity 1 ignore b. A reduction combines the value so far (a)
    // with the next element (b).
    float (*apply)(float a, float b);
    // How to print it as C++: the same expression as text, in terms of a and b.
    std::string code;
    float start = 0.0f;  // reductions only: the value of an empty row
};

// An expression is written once; the macro keeps it both as a function (for the interpreter) and as text (for the
// code generator). Written twice, the two would drift apart sooner or later. Macros see tokens, so only a macro can.
#define SMALL_COMPILER_EXPRESSION(...) \
    []([[maybe_unused]] float a, [[maybe_unused]] float b) -> float { return __VA_ARGS__; }, #__VA_ARGS__

#define ELEMENTWISE(name, arity, ...) \
    ::small_compiler::Op { name, ::small_compiler::Kind::Elementwise, arity, SMALL_COMPILER_EXPRESSION(__VA_ARGS__) }
#define REDUCTION(name, start, ...) \
    ::small_compiler::Op { name, ::small_compiler::Kind::Reduction, 1, SMALL_COMPILER_EXPRESSION(__VA_ARGS__), start }

// A deque, because nodes keep pointers into the table and push_back on a deque moves nothing.
std::deque<Op>& op_table();

// nullptr where there is no such op.
const Op* find_op(const std::string& name);

}  // namespace small_compiler
