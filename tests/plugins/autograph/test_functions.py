"""Functions inside functions, lambdas, closures, methods, calls: conversion reaches them and leaves their meaning alone."""

from __future__ import annotations

import dataclasses
import functools
import operator

import pytest

import treadle as td

CASES = []
FACTOR = 3
counter = 0


def case(*kinds):
    def note(function):
        CASES.append(pytest.param(function, kinds, id=function.__name__))
        return function

    return note


def clipped(x, low=0, *, high=5):
    if x < low:
        return low
    return high if x > high else x


def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


def logged(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs) + 1

    return wrapper


@logged
def decorated(x):
    if x > 2:
        return x * 2
    return 0


class Halver:
    step = 2

    def __init__(self, offset):
        self.offset = offset
        self.__hidden = 4

    def __call__(self, x):
        if x > self.offset:
            return x // self.step
        return x

    def hidden(self, x):
        __twice = x * 2
        if x > self.__hidden:
            return __twice + self.__hidden
        return __twice

    @staticmethod
    def static(x):
        return x if x > 0 else -x

    @classmethod
    def of_class(cls, x):
        if x > cls.step:
            return cls.step
        return x

    @property
    def doubled(self):
        return self.offset * 2


class Quarter(Halver):
    def __call__(self, x):
        if x > 3:
            return super().__call__(x) * 10
        return super().__call__(x) + 1


@case("int")
def called_function(x):
    return clipped(x) * 10 + clipped(x, 1) + clipped(x, high=3)


@case("int")
def called_in_a_branch(x):
    if x > 0:
        y = clipped(x, 2)
    else:
        y = clipped(x, -2, high=-1)
    return y


@case("trips")
def called_in_a_loop(n):
    total = 0
    for k in range(n):
        total += clipped(k, 1, high=3)
    return total


@case("int")
def python_recursion(x):
    return x * factorial(5)


@case("int")
def decorated_function(x):
    return decorated(x)


@case("int")
def function_inside(x):
    def inner(y):
        if y > x:
            return y - x
        return x - y

    return inner(3) + inner(x + 1)


@case("int")
def closure_sees_later_values(x):
    def inner():
        return k * 2

    k = 1
    if x > 2:
        k = x
    return inner()


@case("int")
def nonlocal_inside(x):
    total = 0

    def add(y):
        nonlocal total
        if y > 2:
            total = total + y

    add(x)
    add(x + 1)
    return total


@case("int")
def nonlocal_called_in_a_branch(x):
    total = 1

    def double():
        nonlocal total
        total = total * 2

    if x > 2:
        double()
        double()
    return total


@case("int")
def nonlocal_called_in_an_operand(x):
    total = 1

    def double():
        nonlocal total
        total = total * 2
        return total > 2

    y = x > 2 and double()
    z = 1 if double() or x > 5 else 0
    return total if y else -total, z, (double() if x > 3 else False)


@case("trips")
def nonlocal_called_in_a_loop(n):
    total = 1

    def double():
        nonlocal total
        total = total * 2

    for _ in range(n):
        double()
    return total


@case("int")
def nonlocal_of_a_sibling(x):
    total, seen = 0, 0

    def add(k):
        nonlocal total
        if k > 1:
            total += k
        else:
            total -= 1

    def work(k):
        nonlocal seen
        for i in range(2):
            if k > i:
                add(k)
                seen += 1
        return lambda: add(seen)

    if x > 0:
        work(x)()
    again = work(x + 1)
    while total < 10:
        again()
        total += 3
    return total, seen


@case("int")
def nonlocal_three_levels_up(x):
    def one(y):
        def two(z):
            def three(w):
                nonlocal x
                if w > 0:
                    x = x + w
                return x

            return three(z) if z > 1 else three(-z)

        return two(y) + two(y + 1)

    return one(x)


@case("int")
def lambdas(x):
    f, g = lambda y: y + 1 if y > 2 else y - 1, lambda y: y > 0 and y < 5
    return f(x), g(x)


@case("int")
def lambda_over_lines(x):
    f = (
        lambda y, k=2: y
        if y > k
        else -y
    )  # fmt: skip
    return f(x) + f(x, 5)


@case("int")
def lambdas_in_a_loop_bind_late(x):
    late, early = [], []
    for k in range(3):
        late.append(lambda: x * k)  # noqa: B023  late binding is under test
        early.append(lambda k=k: x * k)
    return [f() for f in late], [f() for f in early]


@case("int")
def lambda_in_a_lambda(x):
    f = lambda a: lambda b: a if a > b else b
    return f(x)(3)


@case("int")
def defaults_are_evaluated_once(x):
    calls = []

    def note(value):
        calls.append(value)
        return value

    def f(a, b=note(2)):  # noqa: B008  when a default is made is under test
        return a + b if a > 0 else b

    return f(x) + f(1) + len(calls)


@case("int")
def star_arguments(x):
    def f(*args, k=1, **kwargs):
        total = 0
        for a in args:
            total += a if a > 0 else 0
        return total + k + kwargs.get("z", 0)

    return f(x, -x, 2, k=3, z=x), f(*[x, 1], **{"k": 2})


@case("int")
def positional_only(x):
    def f(a, /, b, *, c):
        return a if b > c else c

    return f(x, 3, c=x)


@case("int")
def objects_that_are_called(x):
    return Halver(3)(x) + Quarter(1)(x)


@case("int")
def methods(x):
    h = Halver(2)
    return h.hidden(x) + Halver.static(x) + h.of_class(x) + h.doubled


@case("int")
def methods_as_values(x):
    f = Halver(2).hidden
    return f(x) + functools.partial(f, x)()


@case("int")
def partials(x):
    return functools.partial(clipped, low=2)(x) + functools.partial(clipped, x, high=9)()


@case("int")
def map_filter_reduce(x):
    values = list(map(lambda k: k if k > x else x, [1, 5, 9]))  # noqa: C417  map is under test
    kept = list(filter(lambda k: k > 1, [1, 2, 3]))
    return values, kept, functools.reduce(lambda a, b: a if a > b else b, [x, 2, 4])


@case("int")
def operators_as_functions(x):
    return operator.add(x, 2), functools.reduce(operator.mul, [x, 2, 3])


@case("int")
def comprehensions(x):
    a = [k if k > x else x for k in range(4)]
    b = {k: (k > x and k < 5) for k in (1, 2, 3)}
    c = sum(1 if k > x else 0 for k in [0, 3, 6])
    d = [[j * k for j in range(2) if j != k] for k in range(2)]
    return a, list(b.values()), c, d


@case("int")
def comprehension_with_walrus(x):
    values = [y if (y := x + k) > 3 else 0 for k in range(3)]
    return values, y


@case("int")
def generators_are_left_alone(x):
    def numbers(n):
        for k in range(n):
            if k != 1:
                yield k

    return [x * k for k in numbers(4)]


@case("int")
def class_inside(x):
    class Local:
        scale = 2

        def grow(self, y):
            if y > 2:
                return y * self.scale
            return 0

    return Local().grow(x)


@case("int")
def globals_are_read_when_called(x):
    return x * FACTOR if x > 2 else FACTOR


@case("int")
def attributes_in_a_branch(x):
    class Box:
        pass

    box = Box()
    box.value = 1
    if x > 2:
        box.value = x
        box.value += 1
    return box.value


@case("trips")
def attributes_in_a_loop(n):
    class Box:
        pass

    box = Box()
    box.inner = Box()
    box.value, box.inner.count = 1, 0
    for k in range(n):
        box.value = box.value + k
        box.inner.count += 1
    return box.value, box.inner.count


@case("int")
def functions_chosen_by_python(x):
    table = {"up": lambda y: y + 1 if y > 0 else y, "down": lambda y: y - 1}
    return table["up"](x), table["down"](x)


@case("int")
def locals_shows_the_users_names(x):
    y = x + 1
    if x > 2:
        y = y * 2
    return sorted(locals()), locals()["y"], eval("y + 1")


@case("int")
def sorting_by_a_key(x):
    return sorted([3, 1, 2], key=lambda k: -k)[0] + x


@case("int")
def unpacking(x):
    a, *b = (x, 1, 2) if x > 0 else (0, x, 3)
    (c, d), e = (a, b[0]), b[1]
    return c + d * e


@case("int")
def exceptions_of_python(x):
    try:
        y = {}["missing"]
    except KeyError as error:
        y = len(str(error))
    return y + x if x > 0 else y


@case("int")
def delete_and_define_again(x):
    y = x
    del y
    y = 2 if x > 1 else 3
    return y


@pytest.mark.parametrize(("function", "kinds"), CASES)
def test_it_means_what_python_means(function, kinds, agree):
    agree(function, kinds)


def test_a_global_is_bound_in_a_branch():
    @td.function
    def count(x):
        global counter
        counter = 0
        if x > 2:
            counter = 5
        for _ in td.range(x):
            counter = counter + 1
        return counter

    try:
        assert [int(count(td.constant(k))) for k in (1, 3)] == [1, 8]
    finally:
        globals()["counter"] = 0


def test_cells_are_shared_with_the_original():
    k = 1

    def f(x):
        return x + k if x > 0 else x

    converted = td.autograph.to_graph(f)
    assert int(converted(td.constant(1))) == 2
    k = 10
    assert int(converted(td.constant(1))) == 11
    assert converted.__closure__[1] is f.__closure__[0] or converted.__closure__[0] is f.__closure__[0]


def test_what_a_function_is_stays():
    marker = object()

    def f(x: int, *, k: object = marker) -> int:
        """Doc."""
        return x if x > 0 else -x

    f.note = "kept"
    converted = td.autograph.to_graph(f)
    assert converted.__name__ == "f"
    assert converted.__qualname__ == f.__qualname__
    assert converted.__doc__ == "Doc."
    assert converted.__kwdefaults__["k"] is marker
    assert converted.__annotations__ == f.__annotations__
    assert converted.__module__ == f.__module__
    assert converted.note == "kept"
    assert converted.__code__.co_filename == __file__
    assert converted.__code__.co_firstlineno == f.__code__.co_firstlineno


def test_docstrings_of_inner_functions_stay():
    def f(x):
        """Outer."""

        def inner():
            """Inner,
            of two lines."""

        def bare():
            return x

        class Thing:
            """A thing."""

            def method(self):
                """A method."""

        return [thing.__doc__ for thing in (inner, bare, Thing, Thing.method)]

    converted = td.autograph.to_graph(f)
    assert converted(1) == f(1)
    assert converted(1)[1:] == [None, "A thing.", "A method."]
    assert converted.__doc__ == "Outer."
    assert td.autograph.to_code(f).count("Outer.") == 1


def test_names_of_inner_functions_stay():
    def f(x):
        def inner():
            return [lambda: x]

        class Local:
            def method(self):
                return x

        if x > 0:
            return inner.__qualname__, Local.__qualname__, Local.method.__qualname__, inner()[0].__qualname__
        return ()

    assert td.autograph.to_graph(f)(1) == f(1)


def test_conversion_is_made_once_per_code_object():
    from treadle_autograph.convert import convert

    def make(k):
        def f(x):
            return x + k if x > 0 else x

        return f

    first, second = convert(make(1)), convert(make(2))
    assert first.__code__ is second.__code__
    assert (first(1), second(1)) == (2, 3)
    f = make(1)
    assert convert(f) is convert(f)
    assert convert(convert(f)) is convert(f)


def test_libraries_are_not_converted():
    import json

    import numpy as np

    from treadle_autograph.convert import convert

    for thing in (json.dumps, np.pad, td.add, td.reduce_sum, len, int, Halver, td.function(clipped)):
        assert convert(thing) is thing


def test_do_not_convert_lets_a_function_run_as_it_is_written():
    @td.autograph.experimental.do_not_convert
    def helper(x):
        return 1 if x > 0 else 2

    @td.autograph.experimental.do_not_convert()
    def other(x):
        return x is not None

    assert helper(1) == 1
    assert other(1)
    with pytest.raises(TypeError, match="bool"):
        td.function(lambda x: helper(x))(td.constant(1))
    with pytest.raises(TypeError, match="bool"):
        td.function(helper)(td.constant(1))


def test_a_decorated_function_inside_is_a_function_of_its_own():
    @td.function
    def outer(x):
        @td.function
        def inner(y):
            return y * 2 if y > 0 else y

        return inner(x) + 1

    assert [int(outer(td.constant(k))) for k in (3, -3)] == [7, -2]


def test_functions_handed_to_treadle_are_converted():
    @td.function
    def f(x):
        return td.cond(x > 0, lambda: clipped(x), lambda: _negated(x)), td.while_loop(_is_small, _grown, [x])

    assert [int(v) for v in td.nest.flatten(f(td.constant(3)))] == [3, 12]
    assert [int(v) for v in td.nest.flatten(f(td.constant(-3)))] == [3, 10]


def _negated(x):
    if x < -100:
        return x
    return -x


def _is_small(x):
    return x < 10 and x > -100


def _grown(x):
    if x > 0:
        return (x * 2,)
    return (x + 3 if x < -1 else td.constant(10),)


def test_a_method_of_a_module_is_converted():
    class Net(td.Module):
        def __init__(self):
            super().__init__()
            self.scale = td.Variable(2)

        def layer(self, x):
            if x > self.scale:
                return x - self.scale
            return x + 0

        @td.function
        def __call__(self, x):
            for _ in td.range(3):
                x = self.layer(x)
            return x

    net = Net()
    assert int(net(td.constant(7))) == 1
    net.scale.assign(5)
    assert int(net(td.constant(7))) == 2


def test_variables_decide_and_are_read_when_the_graph_runs():
    v = td.Variable(1)

    @td.function
    def f(x):
        if v > 2:
            x = x * 10
        while v < 5:
            v.assign_add(1)
            x = x + 1
        return x if v else -x

    assert int(f(td.constant(1))) == 5
    assert int(v.numpy()) == 5
    assert int(f(td.constant(1))) == 10


def test_a_branch_on_a_tensor_that_is_known_is_pythons():
    @td.function
    def f(x):
        if td.constant(True):
            return "known"
        return x.no_such_attribute

    assert f(td.zeros([2, 2])) == "known"


def test_private_names_are_those_of_the_class():
    class Account:
        __rate = 3

        def grow(self, __x):  # noqa: PYI063  a mangled name is under test
            __y = __x
            if __y > self.__rate:
                __y = self.__rate
            for __i in td.range(2):
                __y += __i
            self.__last = __y
            if __y > 1:
                self.__last = __y * 2
            return self.__last

    account = Account()
    grow = td.function(account.grow)
    assert [int(grow(td.constant(k))) for k in (-1, 2, 7)] == [0, 6, 8]


# ---------------------------------------------------------------------- classes that are called


class Base:
    def __init__(self, v):
        if v > 2:
            self.v = v
        else:
            self.v = v * 10


class Counted(Base):
    def __new__(cls, v, *, k=1):
        made = super().__new__(cls)
        made.k = 2 if v > 3 else k
        return made

    def __init__(self, v, *, k=1):
        super().__init__(v)
        if self.k > 1:
            self.v += 100


class WrongError(ValueError):
    def __init__(self, v):
        super().__init__("small" if v is None else f"{v}")
        self.v = v


@dataclasses.dataclass
class Pair:
    a: object
    b: object = 3

    def larger(self):
        return self.a if self.a > self.b else self.b


def test_constructors_are_converted():
    def f(x):
        return Base(x).v, Counted(x, k=5).v, Pair(x).larger()

    assert [int(v) for x in (1, 3, 7) for v in td.function(f)(td.constant(x))] == [v for x in (1, 3, 7) for v in f(x)]


def test_constructors_keep_what_python_says_of_them():
    class Odd:
        def __new__(cls, x):
            return [x] if x is not None else None

        def __init__(self, x):
            raise AssertionError("what __new__ gave is of another class")

    class Wrong:
        def __init__(self, x):
            return x  # noqa: PLE0101  what Python says of it is under test

    class Meta(type):
        def __call__(cls, *arguments):
            return ("made by the metaclass", *arguments)

    class Made(metaclass=Meta):
        def __init__(self, x):
            raise AssertionError("the metaclass makes it")

    def f(x):
        return Odd(x)[0], Made(x)[1]

    assert [int(v) for v in td.function(f)(td.constant(3))] == [3, 3]
    with pytest.raises(TypeError, match=r"__init__\(\) should return None, not 'SymbolicTensor'"):
        td.function(lambda x: Wrong(x))(td.constant(1))
    with pytest.raises(TypeError, match="argument"):
        td.function(lambda x: Base(x, x))(td.constant(1))
    with pytest.raises(TypeError, match="argument"):
        td.function(lambda x: object(x))(td.constant(1))


def test_exceptions_of_the_users_are_constructed():
    @td.function
    def f(x):
        if x > 0:
            raise WrongError(3)
        return x

    with pytest.raises(WrongError, match="3"):
        f(td.constant(1))
