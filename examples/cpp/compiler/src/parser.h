// The text format. One statement per line; "#" starts a comment:
//   input x [64, 128]
//   half = constant 0.5
//   wide = broadcast half [64, 128]
//   y = mul x wide                     (or: y = mul x half, or: y = mul x 0.5)
//   output y
#pragma once

#include <cctype>
#include <map>
#include <optional>

#include "graph.h"

namespace small_compiler {

struct ParseResult {
    Graph graph;                      // of use only where there are no errors
    std::vector<std::string> errors;  // all of them, as "LINE: what is wrong; what to do"
};

class Parser {
  public:
    ParseResult parse(const std::string& text) {
        std::istringstream stream(text);
        std::size_t line_number = 0;
        const auto report = [&](const std::string& message) {
            result_.errors.push_back(std::to_string(line_number) + ": " + message);
        };
        for (std::string line; std::getline(stream, line);) {
            ++line_number;
            defines_.clear();
            try {
                statement(split(line));
            } catch (const std::invalid_argument& error) {
                // Later lines that use this name are not to blame: they get no message of their own.
                if (!defines_.empty()) names_.emplace(defines_, std::nullopt);
                if (*error.what() != '\0') report(error.what());
            }
        }
        if (!saw_output_) report("the program has no output; end it with a line such as: output y");
        return std::move(result_);
    }

  private:
    using Tokens = std::vector<std::string>;

    [[noreturn]] static void fail(const std::string& message) { throw std::invalid_argument(message); }
    static std::string quoted(const std::string& text) { return "\"" + text + "\""; }
    static bool is_digit(char c) { return c >= '0' && c <= '9'; }

    static Tokens split(const std::string& line) {
        Tokens tokens;
        bool in_word = false;
        for (char c : line.substr(0, line.find('#'))) {
            const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
            const bool sign = std::string("[],=").find(c) != std::string::npos;
            if (!blank && (sign || !in_word)) tokens.emplace_back();
            if (!blank) tokens.back() += c;
            in_word = !blank && !sign;
        }
        return tokens;
    }

    void statement(Tokens tokens) {
        if (tokens.empty()) return;
        if (tokens[0] == "output") {
            saw_output_ = true;
            if (tokens.size() < 2) fail("output of nothing; name at least one value");
            for (std::size_t i = 1; i < tokens.size(); ++i) result_.graph.outputs.push_back(value_of(tokens[i]));
        } else if (tokens[0] == "input") {
            if (tokens.size() > 1) define(tokens[1]);
            const std::optional<Shape> shape = take_shape(tokens);
            if (tokens.size() != 2 || !shape) fail("an input needs a name and a shape; write: input x [64, 128]");
            names_[defines_] = result_.graph.input(defines_, *shape);
        } else if (tokens.size() >= 3 && tokens[1] == "=") {
            define(tokens[0]);
            const std::optional<Shape> shape = take_shape(tokens);
            if (tokens.size() < 3) fail("no op before the shape; write: NAME = broadcast OPERAND [SHAPE]");
            names_[defines_] = operation(tokens[2], {tokens.begin() + 3, tokens.end()}, shape);
        } else {
            fail("cannot read " + quoted(tokens[0]) + "; write: NAME = OP OPERANDS, input NAME [SHAPE] or output NAME");
        }
    }

    NodeId operation(const std::string& name, const Tokens& operands, const std::optional<Shape>& shape) {
        const Op* op = find_op(name);
        if (!op || op->kind == Kind::Input) {
            std::string known;
            for (const Op& each : op_table()) known += each.kind == Kind::Input ? "" : " " + each.name;
            fail("unknown op " + quoted(name) + "; choose from:" + known);
        }
        if (shape && op->kind != Kind::Broadcast) fail(name + " takes no shape; leave it out");
        if (!shape && op->kind == Kind::Broadcast) fail("broadcast needs a shape; write: broadcast x [64, 128]");
        // A constant has no operands in the graph; in the text it has its value.
        const std::size_t wanted = op->kind == Kind::Constant ? 1 : static_cast<std::size_t>(op->arity);
        if (operands.size() != wanted) {
            fail(name + " takes " + std::to_string(wanted) + " operand(s), not " + std::to_string(operands.size()) +
                 "; give it that many, with blanks between them");
        }
        if (op->kind == Kind::Constant) return result_.graph.constant(number(operands[0]), defines_);
        std::vector<NodeId> inputs;
        for (const std::string& operand : operands) {
            const bool is_number = is_digit(operand[0]) || std::string("+-.").find(operand[0]) != std::string::npos;
            inputs.push_back(is_number ? result_.graph.constant(number(operand)) : value_of(operand));
        }
        if (shape) return result_.graph.broadcast(inputs[0], *shape, defines_);
        return result_.graph.apply(*op, inputs, defines_);
    }

    static float number(const std::string& token) {
        char* end = nullptr;
        const float value = std::strtof(token.c_str(), &end);
        if (*end != '\0') fail(quoted(token) + " is not a number; write one such as 0.5 or -1e-3");
        if (!std::isfinite(value)) fail(quoted(token) + " is not a finite float32; write a smaller one");
        return value;
    }

    // Takes "[2, 3]" off the end of the tokens; nothing where they do not end in "]".
    static std::optional<Shape> take_shape(Tokens& tokens) {
        constexpr std::size_t most = std::size_t{1} << 28;  // 1 GiB; more is a typing error, most likely
        if (tokens.back() != "]") return std::nullopt;
        std::size_t open = tokens.size() - 1;
        while (open > 0 && tokens[open] != "[") --open;
        Shape shape;
        for (std::size_t i = open + 1; i + 1 < tokens.size(); ++i) {
            bool good = false;
            if ((i - open) % 2 == 0) {
                good = tokens[i] == "," && i + 2 < tokens.size();
            } else if (is_digit(tokens[i][0])) {
                char* end = nullptr;
                const unsigned long long dimension = std::strtoull(tokens[i].c_str(), &end, 10);
                good = *end == '\0' && dimension >= 1 && dimension <= most / elements(shape);
                if (good) shape.push_back(static_cast<std::size_t>(dimension));
            }
            if (!good) {
                fail("bad shape near " + quoted(tokens[i]) + "; write whole numbers, as in [64, 128], with at most " +
                     std::to_string(most) + " elements");
            }
        }
        tokens.resize(open);
        return shape;
    }

    void define(const std::string& name) {
        bool good = !is_digit(name[0]);
        for (char c : name) good = good && (std::isalnum(static_cast<unsigned char>(c)) || c == '_');
        if (!good) fail(quoted(name) + " is not a name; use letters, digits and _, and start with a letter");
        if (names_.count(name)) fail(quoted(name) + " is defined twice; choose another name");
        defines_ = name;
    }

    NodeId value_of(const std::string& name) const {
        const auto found = names_.find(name);
        if (found == names_.end()) fail("unknown name " + quoted(name) + "; define it on an earlier line");
        if (!found->second) fail("");  // reported where it should have been defined
        return *found->second;
    }

    ParseResult result_;
    std::map<std::string, std::optional<NodeId>> names_;  // nothing: the line that defines it has an error
    std::string defines_;                                 // what the current line defines
    bool saw_output_ = false;
};

inline ParseResult parse(const std::string& text) { return Parser().parse(text); }

}  // namespace small_compiler
