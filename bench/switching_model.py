"""From a model file to one Python function, for `switching_reference.py`.

A parser of the equation language, and a compiler in which every switching element becomes a branch that is held, with its guards. It shares
nothing with the engine.
"""

import cmath
import math
import pathlib
import re
import tomllib

FUNCTIONS = "sin cos tan asin acos atan sinh cosh tanh exp log log10 sqrt".split()
TOKEN = re.compile(r"[ \t]+|(?:#|//)[^\n]*|(?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|(?P<name>[^\W\d]\w*)"
                   r"|(?P<sign><=|>=|==|!=|[-+*/^<>=(),])|(?P<end>[;\n])")
UNFINISHED = {"+", "-", "*", "/", "^", "<", "<=", ">", ">=", "==", "!=", "=", ",", "and", "or", "not", "if", "then", "elseif", "else"}


class Refusal(Exception):
    """The model is beyond what this program does; the text says why."""


# ---------------------------------------------------------------- from text to trees


def tokens(text):
    """The tokens of a text; a line that cannot end yet goes on in the next."""
    found, position = [], 0
    while position < len(text):
        match = TOKEN.match(text, position)
        if not match:
            raise Refusal(f"cannot read `{text[position:position + 20]}`")
        position = match.end()
        if match.lastgroup:
            found.append(match[match.lastgroup])
    kept, depth = [], 0
    for index, token in enumerate(found):
        depth += (token == "(") - (token == ")")
        following = next((other for other in found[index + 1:] if other != "\n"), None)
        goes_on = depth > 0 or kept and kept[-1] in UNFINISHED or following in UNFINISHED - {"not", "if"}
        if token in "\n;":
            if token == ";" or not goes_on:
                kept.append(";")
        else:
            kept.append(token)
    return kept


class Parser:
    """Recursive descent over the grammar of the manual, loosest operators first. Trees are tuples."""

    LEVELS = [{"or"}, {"and"}, None, {"<", "<=", ">", ">=", "==", "!="}, {"+", "-"}, {"*", "/"}]

    def __init__(self, text):
        self.tokens, self.position = tokens(text), 0

    def peek(self):
        return self.tokens[self.position] if self.position < len(self.tokens) else None

    def take(self, expected=None):
        token = self.peek()
        if token is None or expected and token != expected:
            raise Refusal(f"expected `{expected}`, found `{token}`")
        self.position += 1
        return token

    def statements(self):
        """All statements, as pairs of what is defined and its tree."""
        while self.peek():
            if self.peek() == ";":
                self.take()
                continue
            target = self.primary()
            self.take("=")
            yield target, self.level(0)

    def level(self, depth):
        if depth == len(self.LEVELS):
            return self.negation()
        if self.LEVELS[depth] is None:
            return ("not", self.level(depth)) if self.accept("not") else self.level(depth + 1)
        tree = self.level(depth + 1)
        while self.peek() in self.LEVELS[depth]:
            tree = (self.take(), tree, self.level(depth + 1))
        return tree

    def accept(self, token):
        return self.peek() == token and bool(self.take())

    def negation(self):
        if self.accept("-"):
            return ("negative", self.negation())
        if self.accept("+"):
            return self.negation()
        base = self.primary()
        return ("^", base, self.negation()) if self.accept("^") else base

    def primary(self):
        token = self.take()
        if token == "(":
            tree = self.level(0)
            self.take(")")
            return tree
        if token == "if":
            condition = self.level(0)
            self.take("then")
            yes = self.level(0)
            if self.peek() == "elseif":
                self.tokens[self.position] = "if"
                return ("if", condition, yes, self.primary())
            self.take("else")
            return ("if", condition, yes, self.level(0))
        if token[0].isdigit() or token[0] == ".":
            return ("number", float(token))
        if self.accept("("):
            arguments = [self.level(0)]
            while self.accept(","):
                arguments.append(self.level(0))
            self.take(")")
            return (token, *arguments)
        if not (token[0].isalpha() or token[0] == "_"):
            raise Refusal(f"unexpected `{token}`")
        return ("name", token)


def expression(text):
    """The tree of one expression."""
    parser = Parser(str(text))
    tree = parser.level(0)
    if parser.peek() not in (None, ";"):
        raise Refusal(f"unexpected `{parser.peek()}` in `{text}`")
    return tree


def mentioned(tree):
    """The names that a tree needs the values of; `der x` for the slope of a state."""
    if tree[0] == "name":
        return {tree[1]} - {"time", "pi", "sample"}
    if tree[0] == "der":
        return {"der " + tree[1][1]}
    if tree[0] in ("number", "previous"):
        return set()
    if tree[0] == "delay":
        return mentioned(tree[2])
    return set().union(*map(mentioned, tree[1:]))


# ---------------------------------------------------------------- from systems to one program


class Model:
    """A model file as one Python function: slopes, values, guards, conditions and inputs that are delayed, from the states and branches."""

    def __init__(self, path):
        self.file = tomllib.loads(pathlib.Path(path).read_text())
        head = self.file.get("model", {})
        self.start, self.stop = float(head.get("start-time", 0.0)), float(head["stop-time"])
        self.states, self.discrete, self.columns, self.clauses, self.delayed, self.samples = {}, {}, {}, [], [], {}
        self.trees, self.ready, self.smooth = {}, {}, {}
        self.branches, self.guards, self.lines, self.indent = [], [], [], 1
        for system, table in self.file["systems"].items():
            self.read_system(system, table)
        self.connect()
        for variable in self.trees:
            self.define(variable, [])
        self.finish()

    def read_system(self, system, table):
        """Collects what a system declares. A variable is a pair of system and name."""
        middle = lambda value: float(sum(value) / 2 if isinstance(value, list) else value)
        for name, value in table.get("parameters", {}).items():
            self.ready[system, name], self.smooth[system, name] = repr(middle(value)), False
        for kind, letter in (("states", "x"), ("discrete", "d")):
            for name, value in table.get(kind, {}).items():
                values = getattr(self, kind)
                self.ready[system, name], self.smooth[system, name] = f"{letter}[{len(values)}]", kind == "states"
                values[system, name] = middle(value)
                self.columns[system, name] = None
        for target, tree in Parser(table.get("equations", "")).statements():
            self.trees[system, "der " + target[1][1] if target[0] == "der" else target[1]] = tree
        for name, text in table.get("outputs", {}).items():
            if (system, name) in self.columns and expression(text) == ("name", name):
                continue
            if (system, name) in self.ready or (system, name) in self.trees:
                raise Refusal(f"{system}.{name} is defined twice")
            self.trees[system, name] = expression(text)
            self.columns[system, name] = None
        for clause in table.get("when", []):
            self.clauses.append((system, expression(clause["condition"]), clause))
        if "sample" in table:
            self.samples[system] = float(table["sample"])

    def connect(self):
        """Inputs become names for what feeds them."""
        for connection in self.file.get("connections", []):
            target = tuple(connection["to"].split("."))
            constant = ("number", float(connection["value"])) if "value" in connection else None
            self.trees[target] = constant or ("of", tuple(connection["from"].split(".")))
        for system, table in self.file["systems"].items():
            for name in table.get("inputs", {}):
                if (system, name) not in self.trees:
                    raise Refusal(f"nothing feeds {system}.{name}")

    def define(self, variable, chain):
        """Writes the line that computes a variable, after those that it needs."""
        if variable in self.ready:
            return
        if variable in chain:
            raise Refusal("algebraic loop: " + " <- ".join(".".join(each) for each in [*chain, variable]))
        if variable not in self.trees and variable[1].startswith("der "):
            raise Refusal(f"the slope of an input, {'.'.join(variable)}")
        if variable not in self.trees:
            raise Refusal(f"unknown name {'.'.join(variable)}")
        system, tree = variable[0], self.trees[variable]
        needed = [tree[1]] if tree[0] == "of" else [(system, name) for name in mentioned(tree)]
        for other in sorted(needed):
            self.define(other, [*chain, variable])
        name = f"v{len(self.ready)}"
        code, smooth = (self.ready[tree[1]], self.smooth[tree[1]]) if tree[0] == "of" else self.emit(tree, system)
        self.write(f"{name} = {code}")
        self.ready[variable], self.smooth[variable] = name, smooth

    def write(self, line):
        self.lines.append("    " * self.indent + line)

    def temporary(self, code):
        name = f"w{len(self.lines)}"
        self.write(f"{name} = {code}")
        return name

    def emit(self, tree, system):
        """Python code of a tree, and whether its value moves between events. Switching elements leave lines of their own."""
        kind, rest = tree[0], tree[1:]
        if kind in ("number", "name", "der", "previous", "delay"):
            return self.emit_leaf(kind, rest, system)
        if kind == "if":
            return self.emit_if(*rest, system)
        parts = [self.emit(part, system) for part in rest]
        codes, smooth = [code for code, _ in parts], any(moves for _, moves in parts)
        if kind in ("<", "<=", ">", ">=", "==", "!="):
            return self.compare(kind, codes, smooth, tree, system), False
        if kind == "abs":
            value = self.temporary(codes[0])
            return f"({value} if {self.compare('>=', [value, '0.0'], smooth, tree, system)} else -{value})", smooth
        if kind == "sign":
            value = self.temporary(codes[0])
            if not smooth:
                return f"(({value} > 0) - ({value} < 0))", False
            return f"(1.0 if {self.compare('>', [value, '0.0'], True, tree, system)} else -1.0)", False
        if kind in ("min", "max"):
            best = self.temporary(codes[0])
            for code in codes[1:]:
                other = self.temporary(code)
                first = self.compare("<" if kind == "min" else ">", [best, other], smooth, tree, system)
                best = self.temporary(f"{best} if {first} else {other}")
            return best, smooth
        if kind == "floor":
            return self.floor(codes[0], smooth, tree, system), False
        if kind == "ceil":
            return f"(-{self.floor(f'(-{codes[0]})', smooth, tree, system)})", False
        if kind == "mod":
            a, b = self.temporary(codes[0]), self.temporary(codes[1])
            return f"({a} - {b} * {self.floor(f'({a} / {b})', smooth, tree, system)})", smooth
        return self.emit_operation(kind, rest, codes), smooth

    def emit_leaf(self, kind, rest, system):
        if kind == "number":
            return repr(rest[0]), False
        if kind == "der":
            return self.ready[system, "der " + rest[0][1]], True
        if kind == "previous":
            return self.ready[system, rest[0][1]].replace("d[", "p["), False
        if kind == "delay":
            span, moves = self.emit(rest[1], system)
            if moves:
                raise Refusal("a delay that varies")
            self.delayed.append((system, rest[0][1]))
            return f"past({len(self.delayed) - 1}, {span}, t)", True
        if rest[0] in ("time", "pi"):
            return ("t", True) if rest[0] == "time" else (repr(math.pi), False)
        variable = (system, rest[0])
        return self.ready[variable], self.smooth[variable]

    def emit_operation(self, kind, rest, codes):
        if kind in "+-*/":
            return f"({codes[0]} {kind} {codes[1]})"
        if kind == "^":
            whole = rest[1][0] == "number" and rest[1][1].is_integer()
            return f"({codes[0]} ** {int(rest[1][1])})" if whole else f"power({codes[0]}, {codes[1]})"
        if kind in ("and", "or"):
            return f"({codes[0]} {kind} {codes[1]})"
        if kind in ("negative", "not"):
            return f"(-{codes[0]})" if kind == "negative" else f"(not {codes[0]})"
        if kind == "ln" or kind in FUNCTIONS or kind == "atan2":
            return f"{'log' if kind == 'ln' else kind}({', '.join(codes)})"
        raise Refusal(f"unknown function `{kind}`")

    def emit_if(self, condition, yes, no, system):
        """Only the branch that is taken is evaluated, and only its guards count."""
        test, name = self.emit(condition, system)[0], f"w{len(self.lines)}_if"
        smooth = False
        for head, tree in ((f"if {test}:", yes), ("else:", no)):
            self.write(head)
            self.indent += 1
            code, moves = self.emit(tree, system)
            self.write(f"{name} = {code}")
            self.indent -= 1
            smooth = smooth or moves
        return name, smooth

    def compare(self, kind, codes, smooth, tree, system):
        """A comparison; where its sides move, a branch that is held, with its guard."""
        if not smooth or self.guards is None:
            return f"({codes[0]} {kind} {codes[1]})"
        if kind in ("==", "!="):
            raise Refusal(f"`{kind}` of values that move, in {system}")
        branch, label = len(self.branches), f"{system}: {tree[0]} #{len(self.branches)}"
        self.branches.append(int(kind in (">=", "<=")))
        distance = self.temporary(f"{codes[0]} - {codes[1]}" if kind[0] == ">" else f"{codes[1]} - {codes[0]}")
        self.write(f"g[{len(self.guards)}] = {distance} if b[{branch}] else -{distance}")
        self.guards.append((branch, 0, label))
        return f"b[{branch}]"

    def floor(self, code, smooth, tree, system):
        """The largest integer below; its branch is the integer, between two guards."""
        if not smooth or self.guards is None:
            return f"floor({code})"
        branch, value, label = len(self.branches), self.temporary(code), f"{system}: {tree[0]} #{len(self.branches)}"
        self.branches.append(0)
        for direction, guard in ((-1, f"{value} - b[{branch}]"), (1, f"b[{branch}] + 1 - {value}")):
            self.write(f"g[{len(self.guards)}] = {guard}")
            self.guards.append((branch, direction, label))
        return f"b[{branch}]"

    def finish(self):
        """Conditions after the variables; right sides of clauses in a program of their own, where nothing is held."""
        tests = [("False" if tree == ("name", "sample") else self.emit(tree, system)[0]) for system, tree, _ in self.clauses]
        listed = lambda variables: "[" + ", ".join(self.ready[variable] for variable in variables) + "]"
        slopes = listed([(system, "der " + name) for system, name in self.states])
        body, count = self.lines, len(self.guards)
        guards, self.guards, self.lines = self.guards, None, []
        for number, (system, _, clause) in enumerate(self.clauses):
            self.write(f"if fired[{number}]:")
            self.indent += 1
            for key, letter in (("set", "d"), ("reset", "x")):
                for name, text in clause.get(key, {}).items():
                    code, index = self.emit(expression(text), system)[0], self.ready[system, name]
                    if index[0] != letter:
                        raise Refusal(f"{system}.{name} cannot be under `{key}`")
                    self.write(f"new_{index} = {code}")
            self.write("pass")
            self.indent -= 1
        actions, self.guards = self.lines, guards
        end = f"    return {slopes}, {listed(self.columns)}, g, [{', '.join(tests)}], {listed(self.delayed)}"
        head = [f"    g = [1.0] * {count}", *body]
        source = ["def model(t, x, d, p, b, past):", *head, end, "def act(t, x, d, p, b, past, fired):", *head]
        source += ["    new_x, new_d = list(x), list(d)", *actions, "    return new_x, new_d"]
        self.program = "\n".join(source)
        self.real, self.act = self.compiled(math, math.atan2, -math.inf)
        self.strict, _ = self.compiled(math, math.atan2, -1e-9)
        self.complex, _ = self.compiled(cmath, complex_atan2, -math.inf)

    def compiled(self, library, atan2, least):
        """The program with real or complex functions, and how far below zero the argument of a root may be."""
        names = {name: getattr(library, name) for name in FUNCTIONS} | {"atan2": atan2, "floor": math.floor}
        names |= {name: from_zero(names[name], least) for name in ("sqrt", "log", "log10")} | {"power": from_zero(pow, least)}
        exec(compile(self.program, "model", "exec"), names)
        return names["model"], names["act"]


def from_zero(function, least):
    """A function that is zero below zero: an integrator looks a little beyond the surface up to which `if x > 0 then sqrt(x)` holds."""

    def extended(value, *others):
        if value.real > 0:
            return function(value, *others)
        if value.real < least:
            raise Refusal(f"a root, a power or a logarithm of {value}")
        return 0.0

    return extended


def complex_atan2(y, x):
    """The angle with its derivative in the imaginary part."""
    (y, x) = complex(y), complex(x)
    slope = (x.real * y.imag - y.real * x.imag) / (x.real**2 + y.real**2)
    return complex(math.atan2(y.real, x.real), slope)
