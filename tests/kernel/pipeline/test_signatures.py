"""Signatures from annotations, and objects that say themselves by what they count."""

from __future__ import annotations

import collections
import copy
import datetime
import decimal
import fractions
import functools
import inspect
import pathlib
import pickle
import sys
import types
from typing import NamedTuple

import numpy as np
import pytest

import treadle as td


def test_an_annotated_spec_stands_for_an_input_signature(tf, toy):
    seen = []

    @tf.function
    def f(x: td.TensorSpec([None], td.float32), k=1, *, y: td.TensorSpec([], td.float32) = 2.0):
        seen.append(x.shape.as_list())
        return toy.add(toy.mul(x, y), x)

    np.testing.assert_array_equal(f([1.0, 2.0]), [3, 6])
    np.testing.assert_array_equal(f(tf.constant([5.0]), y=3.0), [20])
    assert seen == [[None]]
    f([1.0], 2)
    assert len(seen) == 2  # what has no spec counts as ever
    with pytest.raises(TypeError, match=r"f: x must be float32\[None\] by the input_signature, got int32\[2\]"):
        f(tf.constant([1, 2]))
    assert f.get_concrete_function().structured_input_signature[0][0] == tf.TensorSpec([None], tf.float32, "x")


def test_an_annotation_may_name_what_is_local_to_the_program(tf, toy):
    spec = td.TensorSpec([None], td.float32)
    count = []

    @tf.function
    def f(x: spec):
        count.append(spec)
        return toy.add(x, x)

    for n in (1, 2, 3):
        f(np.ones(n, np.float32))
    assert len(count) == (3 if isinstance(f.python_function.__annotations__["x"], str) else 1)


def test_an_input_signature_goes_before_annotations(tf, toy):
    @tf.function(input_signature=[td.TensorSpec([2], td.int32)])
    def f(x: td.TensorSpec([None], td.float32)):
        return toy.add(x, x)

    assert f([1, 2]).dtype is tf.int32


def test_numbers_for_annotated_tensors_are_tensors_when_hints_are_followed(tf, toy):
    traced = []

    def f(x: td.Tensor, k: td.Tensor = 1.0, n: int = 1):
        traced.append(n)
        return toy.mul(x, k)

    followed = tf.function(f, experimental_follow_type_hints=True)
    assert [float(followed(tf.constant(2.0), float(k))) for k in range(4)] == [0, 2, 4, 6]
    assert float(followed(3.0)) == 3.0
    assert len(traced) == 1
    followed(3.0, n=2)
    assert len(traced) == 2
    plain = tf.function(f)
    plain(tf.constant(2.0), 1.0)
    plain(tf.constant(2.0), 2.0)
    assert len(traced) == 4


class Kind(td.types.experimental.TraceType):
    def __init__(self, name):
        self.name = name

    def is_subtype_of(self, other):
        return isinstance(other, Kind) and (other.name == self.name or other.name == "any")

    def most_specific_common_supertype(self, others):
        return self if all(o == self for o in others) else Kind("any")

    def placeholder_value(self, placeholder_context=None):
        return self.name

    def __hash__(self):
        return hash(self.name)

    def __eq__(self, other):
        return isinstance(other, Kind) and self.name == other.name

    def __repr__(self):
        return f"Kind({self.name})"


class Fruit:
    def __init__(self, name):
        self.name = name

    def __tf_tracing_type__(self, context):
        return Kind(self.name)


class Pair:
    def __init__(self, first, second):
        self.first, self.second = first, second

    def __tf_tracing_type__(self, context):
        return PairKind("pair")


class PairKind(Kind):
    def flatten(self):
        return [td.TensorSpec([], td.float32), td.TensorSpec([None], td.float32)]

    def to_tensors(self, value):
        return [value.first, value.second]

    def from_tensors(self, tensors):
        return Pair(next(tensors), next(tensors))


def test_objects_with_a_tracing_type_share_a_trace_by_it(tf, toy):
    seen = []

    @tf.function
    def eat(fruit, x):
        seen.append(fruit)
        return toy.add(x, x)

    for _ in range(3):
        eat(Fruit("apple"), tf.constant(1.0))
        eat(Fruit("pear"), tf.constant(1.0))
    assert seen == ["apple", "pear"]  # the function sees the placeholder
    assert isinstance(Fruit("apple"), td.types.experimental.SupportsTracingProtocol)
    assert "Kind(apple)" in repr(eat.explain()) or "Kind(pear)" in repr(eat.explain())


def test_a_trace_for_a_wider_type_serves_narrower_ones(tf, toy):
    seen = []

    @tf.function
    def eat(fruit, x):
        seen.append(fruit)
        return toy.add(x, x)

    eat(Fruit("any"), tf.constant(1.0))
    eat(Fruit("apple"), tf.constant(1.0))
    assert seen == ["any"]


def test_tensors_in_a_tracing_type_are_inputs(tf, toy):
    count = []

    @tf.function
    def f(pair, y):
        count.append(type(pair).__name__)
        return toy.add(toy.mul(pair.second, pair.first), y)

    for n in (1, 3):
        x = tf.constant(np.arange(n, dtype=np.float32))
        with tf.GradientTape() as tape:
            tape.watch(x)
            result = f(Pair(tf.constant(2.0), x), tf.constant(1.0))
        np.testing.assert_array_equal(result, 2 * np.arange(n) + 1)
        np.testing.assert_array_equal(tape.gradient(result, x), [2.0] * n)
    assert count == ["Pair"]
    concrete = f.concrete_functions()[0]
    assert concrete.names == ["pair", "pair_1", "y"]
    assert list(concrete.function_type.parameters) == concrete.names


def test_a_tracing_type_that_is_none_is_refused(tf):
    class Odd:
        def __tf_tracing_type__(self, context):
            return 3

    with pytest.raises(TypeError, match=r"Odd\.__tf_tracing_type__ gives 3; expected an instance of a td\.types\.experimental\.TraceType"):
        tf.function(lambda x: 1)(Odd())


def test_the_signature_of_a_trace_shows_numbers_as_they_were_given_and_variables_by_position(tf, toy):
    f = tf.function(lambda v, x, k: toy.mul(toy.mul(v, x), k))
    concrete = f.get_concrete_function(tf.Variable(2.0), tf.TensorSpec([], tf.float32), 3.0)
    (_, x, k), _ = concrete.structured_input_signature
    assert (x.name, k) == ("x", 3.0)
    assert "fixed: k=3.0" in concrete.pretty_printed_signature()


def test_tensor_like_is_what_converts_by_itself():
    for value in (1, 2.0, True, 1j, np.float32(1), np.ones(2), td.constant(1.0), td.Variable(1.0)):
        assert isinstance(value, td.types.experimental.TensorLike)
    assert not isinstance("text", td.types.experimental.TensorLike)


@td.function
def by_reference(x):
    return x


class Model:
    @td.function
    def call(self, x):
        return x


def test_copies_trace_anew(tf, toy):
    f = tf.function(lambda x: toy.add(x, x))
    f(tf.constant(1.0))
    for twin in (copy.copy(f), copy.deepcopy(f)):
        assert float(twin(tf.constant(2.0))) == 4.0
        assert twin.experimental_get_tracing_count() == 1
    assert copy.deepcopy({"f": f})["f"] is not f


def test_pickles_are_references(tf, monkeypatch):
    monkeypatch.setitem(sys.modules, __name__, sys.modules.get(__name__) or types.SimpleNamespace(by_reference=by_reference, Model=Model))
    assert pickle.loads(pickle.dumps(by_reference)) is by_reference
    assert pickle.loads(pickle.dumps(Model.call)) is Model.call
    model = pickle.loads(pickle.dumps(Model().call)).__self__
    assert isinstance(model, Model)
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(tf.function(lambda x: x))


class Weighted(NamedTuple):
    x: object
    ks: list


def test_values_below_a_spec_become_its_tensor_in_any_structure(tf, toy):
    spec = tf.TensorSpec([None], tf.float32)
    f = tf.function(lambda p: toy.add(p.x, p.ks[0]), input_signature=[Weighted(spec, [spec])])
    assert f(Weighted([1.0, 2.0], [[3.0, 4.0]])).numpy().tolist() == [4.0, 6.0]
    with pytest.raises(TypeError, match=r"p\.ks has the structure \[\., \.\], and the input_signature wants \[\.\]"):
        f(Weighted([1.0], [1.0, 2.0]))
    with pytest.raises(TypeError, match=r"p has the structure \(\., \.\), and the input_signature wants Weighted\(x=\., ks=\[\.\]\)"):
        f((tf.constant([1.0]), tf.constant([1.0])))


class Adder:
    def __init__(self, tf, toy):
        self.total = tf.Variable(1.0)
        self.toy = [toy]
        self.add = tf.function(self._add)

    def _add(self, x):
        self.total.assign(self.toy[0].add(self.total, x))

    def __deepcopy__(self, memo):
        twin = memo[id(self)] = object.__new__(Adder)
        twin.toy = self.toy
        twin.total = copy.deepcopy(self.total, memo)
        twin.add = copy.deepcopy(self.add, memo)
        return twin


@pytest.mark.parametrize("called_before", [False, True])
def test_a_deep_copy_works_on_the_copied_object(tf, toy, called_before):
    one = Adder(tf, toy)
    if called_before:
        one.add(tf.constant(0.0))
    two, three = copy.deepcopy(one), copy.deepcopy(one.add)
    two.add(tf.constant(5.0))
    three(tf.constant(7.0))
    assert (float(one.total), float(two.total)) == (1.0, 6.0)


def test_traced_methods_can_be_traced_again_and_bound_further(tf, toy):
    class Scale:
        @tf.function
        def call(self, x, k=2.0):
            return toy.mul(x, k)

    method = Scale().call
    assert str(inspect.signature(method)) == "(x, k=2.0)"
    for f in (
        tf.function(method),
        tf.function(functools.partial(method)),
        tf.function(functools.partial(method, k=2.0)),
        tf.function(method, input_signature=[tf.TensorSpec([])]),
    ):
        assert float(f(tf.constant(3.0))) == 6.0


def test_variables_of_an_input_signature_may_be_left_out_nested_too(tf, toy):
    w, b = tf.Variable(2.0), tf.Variable(3.0)

    @tf.function(input_signature=[tf.TensorSpec([]), {"w": w, "rest": [b]}])
    def f(x, parameters):
        return toy.add(toy.mul(x, parameters["w"]), parameters["rest"][0])

    assert float(f(4.0)) == 11.0
    assert float(f(4.0, {"w": w, "rest": [b]})) == 11.0
    assert float(f(4.0, parameters={"w": w, "rest": [b]})) == 11.0


def test_a_variable_in_the_middle_of_an_input_signature_may_be_left_out(tf, toy):
    w, b = tf.Variable(2.0), tf.Variable(3.0)

    @tf.function(input_signature=[tf.TensorSpec([]), w, tf.TensorSpec([]), b])
    def f(x, scale, y, shift):
        return toy.add(toy.add(toy.mul(x, scale), y), shift)

    for call in (
        lambda: f(4.0, 10.0),
        lambda: f(4.0, w, 10.0),
        lambda: f(4.0, 10.0, b),
        lambda: f(4.0, w, 10.0, b),
        lambda: f(4.0, y=10.0),
        lambda: f(y=10.0, x=4.0),
    ):
        assert float(call()) == 21.0
    assert f.experimental_get_tracing_count() == 1
    with pytest.raises(TypeError, match="itself for scale"):
        f(4.0, b, 10.0, b)
    with pytest.raises(TypeError, match="missing a required argument: 'y'"):
        f(4.0)


def test_variables_of_an_input_signature_may_be_left_out_of_args(tf, toy):
    w = tf.Variable(2.0)

    @tf.function(input_signature=[tf.TensorSpec([]), w, tf.TensorSpec([])])
    def f(*values):
        x, scale, y = values
        return toy.add(toy.mul(x, scale), y)

    assert float(f(4.0, 1.0)) == float(f(4.0, w, 1.0)) == 9.0


VALUES = [
    lambda: frozenset({1, "a"}),
    lambda: {2, 3},
    lambda: bytearray(b"ab"),
    lambda: decimal.Decimal("1.0"),
    lambda: fractions.Fraction(1, 3),
    lambda: pathlib.Path("a/b"),
    lambda: datetime.date(2020, 1, 2),
    lambda: np.complex128(1 + 2j),
    lambda: 1 + 2j,
    lambda: slice(0, np.int64(3)),
    lambda: collections.deque([1, 2]),
]


@pytest.mark.parametrize("make", VALUES, ids=lambda make: type(make()).__name__)
def test_equal_values_share_a_trace(tf, toy, make):
    f = tf.function(lambda value, x: x)
    for _ in range(3):
        f(make(), tf.constant(1.0))
    assert f.experimental_get_tracing_count() == 1
    assert "float32" in f.concrete_functions()[0].pretty_printed_signature()


def test_values_that_are_equal_and_differ_do_not_share_a_trace(tf, toy):
    f = tf.function(lambda value, x: x)
    pairs = [
        ({1: 2}, {True: 2}, {1.0: 2}),
        (slice(0, 1), slice(False, True)),
        (decimal.Decimal("1.0"), decimal.Decimal("1.00")),
        (complex(0, 0.0), complex(0, -0.0)),
        ({1}, {True}, {1.0}),
    ]
    for values in pairs:
        before = f.experimental_get_tracing_count()
        for value in (*values, *values):
            f(value, tf.constant(1.0))
        assert f.experimental_get_tracing_count() - before == len(values), values
    types = tf.function(lambda d: tf.constant([bool, int, float].index(type(next(iter(d))))))
    assert [int(types({key: tf.constant(1.0)})) for key in (1, True, 1.0, 1)] == [1, 0, 2, 1]


def test_what_is_changed_between_calls_is_seen(tf, toy):
    f = tf.function(lambda s: tf.constant(len(s)))
    numbers = {1, 2}
    assert int(f(numbers)) == 2
    numbers.add(3)
    assert int(f(numbers)) == 3
    factors = [2.0]
    g = tf.function(lambda p, x: p(x))
    partial = functools.partial(lambda x, k: toy.mul(x, k[0]), k=factors)
    assert float(g(partial, tf.constant(1.0))) == 2.0
    factors[0] = 5.0
    assert float(g(partial, tf.constant(1.0))) == 5.0


@pytest.mark.parametrize("end", [[1], 1.5, "tensor"])
def test_a_slice_with_other_ends_than_integers_is_refused(tf, toy, end):
    f = tf.function(lambda s, x: x)
    with pytest.raises(TypeError, match=r"a slice with .* cannot be an argument of a traced function"):
        f(slice(tf.constant(1) if end == "tensor" else end, 3), tf.constant(1.0))


def test_a_trace_for_unknown_sizes_serves_calls(tf, toy):
    f = tf.function(lambda x: toy.add(x, x))
    concrete = f.get_concrete_function(tf.TensorSpec([None]))
    assert f(tf.constant([1.0, 2.0])).numpy().tolist() == [2.0, 4.0]
    assert f.get_concrete_function(tf.constant([1.0])) is concrete
    assert f.experimental_get_tracing_count() == 1
    f(tf.constant([[1.0]]))
    assert f.experimental_get_tracing_count() == 2


def test_the_only_trace_is_the_concrete_function(tf, toy):
    f = tf.function(lambda x: toy.add(x, x))
    with pytest.raises(TypeError, match="missing a required argument"):
        f.get_concrete_function()
    f(tf.constant(1.0))
    assert f.get_concrete_function() is f.concrete_functions()[0]


def test_a_spec_for_any_number_of_arguments_is_refused(tf, toy):
    def f(x, *rest: td.TensorSpec([])):
        return x

    with pytest.raises(ValueError, match=r"the annotation of \*rest"):
        tf.function(f)(tf.constant(1.0))


def test_a_function_that_calls_itself_without_end_says_so(tf, toy):
    @tf.function
    def f(n):
        return f(n + 1)

    with pytest.raises(RecursionError) as caught:
        f(1)
    assert "'f' was being traced" in caught.value.__notes__[0]


def test_without_arguments_a_function_of_defaults_is_traced_for_these(tf, toy):
    f = tf.function(lambda x=2.0: toy.add(tf.constant(1.0), x))
    f(5.0)
    assert float(f.get_concrete_function()()) == 3.0
    assert f.experimental_get_tracing_count() == 2


@pytest.mark.parametrize("make", [lambda: complex("nan"), lambda: decimal.Decimal("NaN"), lambda: decimal.Decimal("sNaN")])
def test_a_nan_of_any_kind_is_like_another(tf, toy, make):
    f = tf.function(lambda value, x: x)
    for _ in range(3):
        f(make(), tf.constant(1.0))
    assert f.experimental_get_tracing_count() == 1


def test_a_call_with_a_spec_is_refused_by_name(tf, toy):
    f = tf.function(lambda x: x)
    with pytest.raises(TypeError, match="only get_concrete_function takes specs"):
        f(tf.TensorSpec([1]))


def test_a_trace_for_variables_of_its_signature_is_called_without_them(tf, toy):
    w = tf.Variable(2.0)
    f = tf.function(lambda x, w: toy.mul(x, w), input_signature=[tf.TensorSpec([]), w])
    concrete = f.get_concrete_function()
    assert float(concrete(tf.constant(3.0))) == float(concrete(tf.constant(3.0), w)) == 6.0
