#include "parser.h"

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>

namespace small_compiler {
namespace {

constexpr std::size_t kMostElements = std::size_t{1} << 28;  // 1 GiB of float32: a typing error, most likely

[[noreturn]] void fail(const std::string& message) { throw std::invalid_argument(message); }

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> tokens;
    bool in_word = false;
    for (char c : line) {
        if (c == '#') break;
        const bool space = std::isspace(static_cast<unsigned char>(c)) != 0;
        const bool sign = c == '[' || c == ']' || c == ',' || c == '=';
        if (!space && (sign || !in_word)) tokens.emplace_back();
        if (!space) tokens.back() += c;
        in_word = !space && !sign;
    }
    return tokens;
}

bool is_name(const std::string& token) {
    for (char c : token) {
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
    }
    return !token.empty() && !std::isdigit(static_cast<unsigned char>(token[0]));
}

bool looks_like_number(const std::string& token) {
    return std::isdigit(static_cast<unsigned char>(token[0])) || token[0] == '-' || token[0] == '+' || token[0] == '.';
}

float number(const std::string& token) {
    char* end = nullptr;
    const float value = std::strtof(token.c_str(), &end);
    if (*end != '\0') fail(quoted(token) + " is not a number; write one such as 0.5 or -1e-3");
    if (std::isinf(value)) fail(quoted(token) + " does not fit into float32; write a smaller one");
    return value;
}

// Takes "[ 2 , 3 ]" off the end of the tokens; nothing where they do not end in "]".
std::optional<Shape> take_shape(std::vector<std::string>& tokens) {
    if (tokens.empty() || tokens.back() != "]") return std::nullopt;
    std::size_t open = tokens.size() - 1;
    while (open > 0 && tokens[open] != "[") --open;
    Shape shape;
    for (std::size_t i = open + 1; i + 1 < tokens.size(); ++i) {
        bool good = false;
        if ((i - open) % 2 == 0) {  // between two numbers
            good = tokens[i] == "," && i + 2 < tokens.size();
        } else if (std::isdigit(static_cast<unsigned char>(tokens[i][0]))) {
            char* end = nullptr;
            const unsigned long long dimension = std::strtoull(tokens[i].c_str(), &end, 10);
            good = *end == '\0' && dimension >= 1 && dimension <= kMostElements / elements(shape);
            shape.push_back(static_cast<std::size_t>(dimension));
        }
        if (!good) {
            fail("bad shape near " + quoted(tokens[i]) + "; write whole numbers from 1, as in [64, 128], with at most " +
                 std::to_string(kMostElements) + " elements in all");
        }
    }
    tokens.resize(open);
    return shape;
}

std::string known_ops() {
    std::string list;
    for (const Op& op : op_table()) list += (list.empty() ? "" : ", ") + op.name;
    return list;
}

class Parser {
  public:
    ParseResult parse(const std::string& text) {
        std::istringstream stream(text);
        std::string line;
        std::size_t number_of_line = 0;
        const auto report = [&](const std::string& message) {
            result_.errors.push_back(std::to_string(number_of_line) + ": " + message);
        };
        while (std::getline(stream, line)) {
            ++number_of_line;
            defines_.clear();
            try {
                statement(split(line));
            } catch (const std::invalid_argument& error) {
                // Later lines that use this name are not to blame: they are skipped without a message of their own.
                if (!defines_.empty()) names_.emplace(defines_, std::nullopt);
                if (*error.what() != '\0') report(error.what());
            }
        }
        if (!saw_output_) report("the program has no output; end it with a line such as: output y");
        return std::move(result_);
    }

  private:
    void statement(std::vector<std::string> tokens) {
        if (tokens.empty()) return;
        if (tokens[0] == "output") {
            saw_output_ = true;
            if (tokens.size() < 2) fail("output of nothing; name at least one value");
            for (std::size_t i = 1; i < tokens.size(); ++i) graph_.outputs.push_back(named(tokens[i]));
        } else if (tokens[0] == "input") {
            if (tokens.size() > 1) define(tokens[1]);
            const std::optional<Shape> shape = take_shape(tokens);
            if (tokens.size() != 2 || !shape) fail("an input needs a name and a shape; write: input x [64, 128]");
            names_[defines_] = graph_.input(defines_, *shape);
        } else if (tokens.size() >= 3 && tokens[1] == "=") {
            define(tokens[0]);
            const std::optional<Shape> shape = take_shape(tokens);
            names_[defines_] = operation(tokens[2], {tokens.begin() + 3, tokens.end()}, shape);
        } else {
            fail("cannot read " + quoted(tokens[0]) + "; write: NAME = OP OPERANDS, input NAME [SHAPE] or output NAME");
        }
    }

    NodeId operation(const std::string& name, const std::vector<std::string>& operands, std::optional<Shape> shape) {
        const Op* op = find_op(name);
        if (!op || op->kind == Kind::Input) fail("unknown op " + quoted(name) + "; known are " + known_ops());
        if (shape.has_value() != (op->kind == Kind::Broadcast)) {
            fail(shape ? name + " takes no shape; leave it out" : "broadcast needs a shape; write: broadcast x [64, 128]");
        }
        // A constant has no operands in the graph; in the text it has its value.
        const std::size_t wanted = op->kind == Kind::Constant ? 1 : static_cast<std::size_t>(op->arity);
        if (operands.size() != wanted) {
            fail(name + " takes " + std::to_string(wanted) + " operand(s), not " + std::to_string(operands.size()) +
                 "; give it that many, with blanks between them");
        }
        if (op->kind == Kind::Constant) return graph_.constant(number(operands[0]), defines_);
        std::vector<NodeId> inputs;
        for (const std::string& operand : operands) {
            inputs.push_back(looks_like_number(operand) ? graph_.constant(number(operand)) : named(operand));
        }
        return shape ? graph_.broadcast(inputs[0], *shape, defines_) : graph_.apply(*op, inputs, defines_);
    }

    void define(const std::string& name) {
        if (!is_name(name)) fail(quoted(name) + " is not a name; use letters, digits and _, and start with a letter");
        if (names_.count(name)) fail(quoted(name) + " is defined twice; choose another name");
        defines_ = name;
    }

    NodeId named(const std::string& name) const {
        const auto found = names_.find(name);
        if (found == names_.end()) fail("unknown name " + quoted(name) + "; define it on an earlier line");
        if (!found->second) fail("");  // already reported where it should have been defined
        return *found->second;
    }

    ParseResult result_;
    Graph& graph_ = result_.graph;
    std::map<std::string, std::optional<NodeId>> names_;  // nothing: its line had an error
    std::string defines_;                                 // the name that the current line defines
    bool saw_output_ = false;
};

}  // namespace

ParseResult parse(const std::string& text) { return Parser().parse(text); }

}  // namespace small_compiler
