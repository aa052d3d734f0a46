"""``td.function``: a Python function with one trace per signature, and a fast path from a call to its executable."""

from __future__ import annotations

import copy
import functools
import inspect
import time
import types
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from treadle import plugins, state
from treadle.functions.concrete import ConcreteFunction
from treadle.functions.instances import BoundFunction, PerInstance
from treadle.functions.keys import Call
from treadle.functions.relaxation import common_parts
from treadle.functions.retracing import Arguments, History
from treadle.functions.shortcuts import MISS, Shortcut, with_shortcut
from treadle.functions.signature import Signature
from treadle.functions.trace_cache import TraceCache
from treadle.functions.trace_lock import one_at_a_time
from treadle.functions.tracing import trace
from treadle.functions.undecided import explain_undecided
from treadle.registry import registry
from treadle.state import LOCAL, STATE, is_reentry
from treadle.tensor import Tensor
from treadle.tensorspec import TensorSpec, outline
from treadle.tracebacks import show_users_lines
from treadle.variable import Variable

_MOST_FAST = 1024
_MOST_UNREFERABLE = 8
_eager_functions = False
_functions: weakref.WeakValueDictionary[int, Function] = weakref.WeakValueDictionary()


def _forget_fast() -> None:
    """Calls look for their devices and kernels again, as one was closed or a plugin came."""
    for reference in _functions.valuerefs():  # a copy: other threads may be making functions
        function = reference()
        if function is not None:
            function._forget_fast_calls()


registry.on_invalidate(_forget_fast)


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Run traced functions as plain Python, for debugging (TensorFlow's ``tf.config.run_functions_eagerly``)."""
    global _eager_functions
    _eager_functions = bool(run_eagerly)
    state.hold(_eager_functions)


def functions_run_eagerly() -> bool:
    """Whether traced functions run as plain Python."""
    return _eager_functions


class Function:
    """A function that is traced into a graph per signature of its arguments. Made by ``td.function``.

    Args:
        python_function: what is traced.
        input_signature: specs that every call must fit, or None.
        autograph: convert Python control flow on tensors.
        reduce_retracing: after a second trace that differs in sizes only, trace once for all sizes.
        options: TensorFlow's other options, kept but without effect.
    """

    def __init__(
        self,
        python_function: Callable[..., Any],
        input_signature: Any = None,
        autograph: bool = True,
        reduce_retracing: bool = False,
        options: dict[str, Any] | None = None,
        signature: Signature | None = None,
    ) -> None:
        self._python_function = python_function
        self._input_signature = input_signature
        self._autograph = autograph
        self._reduce_retracing = reduce_retracing
        self._options = options or {}
        self._name = getattr(python_function, "__name__", type(python_function).__name__)
        if isinstance(python_function, functools.partial):
            self._name = getattr(python_function.func, "__name__", "partial")
        self._given_signature = signature
        if input_signature is not None and signature is None and not _may_be_method(python_function):
            self._given_signature = self._signature_of()
        self._instance: Callable[[], Any] | None = None
        self._fast: dict[Any, Any] = {}
        self._shortcuts: tuple[Shortcut, ...] = ()
        self._taped: tuple[Shortcut, ...] = ()
        self._traces = TraceCache()
        self._count = 0
        self._history = History(self._name, getattr(python_function, "__code__", None))
        self._instances: PerInstance[Function] = PerInstance()
        self._unreferable: OrderedDict[int, tuple[Any, Function]] = OrderedDict()
        self._owner: Callable[[], Any] = _nobody
        _functions[id(self)] = self
        functools.update_wrapper(self, python_function, updated=())

    @property
    def signature(self) -> Signature:
        """How the function takes its arguments."""
        if self._given_signature is None:
            self._given_signature = self._signature_of()
        return self._given_signature

    def _signature_of(self, bound: int = 0) -> Signature:
        follow = bool(self._options.get("follow_type_hints"))
        return Signature(self._python_function, self._input_signature, self._name, bound, follow)

    @property
    def python_function(self) -> Callable[..., Any]:
        """The function as written."""
        return self._python_function

    @property
    def input_signature(self) -> Any:
        """The specs that every call must fit, or None."""
        return None if self._input_signature is None else tuple(self._input_signature)

    @property
    def name(self) -> str:
        """The function's name."""
        return self._name

    # ------------------------------------------------------------------ calling

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            if STATE.busy or kwargs or self._shortcuts:
                return self._call_by_shortcut(args, kwargs)
            found = None
            try:
                if len(args) == 1:
                    (a,) = args
                    if type(a) is Tensor:
                        buffer = a._buffer
                        found = self._fast[a._key, buffer.shape]
                        run, key, _ = found
                        buffer = LOCAL.run(run, buffer)
                else:
                    found = self._fast[tuple([(a._key, a._buffer.shape) if type(a) is Tensor else None for a in args])]
                    run, key, _ = found
                    buffer = LOCAL.run(run, *[a._buffer for a in args])
            except Exception as error:
                if found is not None and not is_reentry(error):
                    raise found[2].explain(error) from error.__cause__
                found = None  # a first call, or one from inside a running kernel
            if found is None:
                return self._call(args, kwargs)
            if key is None:
                return buffer
            tensor = _new(Tensor)
            tensor._buffer = buffer
            tensor._key = key
            tensor._id = 0
            return tensor
        except Exception as error:
            explain_undecided(error)
            show_users_lines(error)
            raise

    def _call_by_shortcut(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call under a tape, by keywords, or of a function whose arguments are nested: by a shortcut where there is one."""
        if not STATE.busy:
            for way in self._shortcuts:
                try:
                    found = way.run(args, kwargs)
                except Exception as error:
                    if is_reentry(error):
                        break  # from inside a running kernel
                    picked = way.pick(args, kwargs)
                    raise way.table[picked[0]][2].explain(error) from error.__cause__
                if found is not MISS:
                    (_, key, _), buffer = found
                    return buffer if key is None else Tensor(buffer, key)
        elif LOCAL.graph is None and LOCAL.device is None and not _eager_functions:
            for way in self._taped:
                picked = way.pick(args, kwargs)
                if picked is not MISS and (concrete := way.table.get(picked[0])) is not None:
                    return concrete.call(picked[1])
        return self._call(args, kwargs)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if _eager_functions:
            return self._bound(self._python_function)(*args, **kwargs)
        method = self._method_of(args)
        if method is not None:
            return method(*args[1:], **kwargs)
        concrete, call = self._find(args, kwargs)
        if any(isinstance(thing, TensorSpec) for thing in call.inputs):
            raise TypeError(f"{self._name} is called with a TensorSpec; only get_concrete_function takes specs")
        result = concrete.call(call.inputs)
        if not STATE.busy:
            self._remember(args, kwargs, concrete, call.inputs)
        elif LOCAL.graph is None and LOCAL.device is None:
            self._taped = with_shortcut(self._taped, args, kwargs, call.inputs, concrete)
        return result

    def _remember(self, args: tuple[Any, ...], kwargs: dict[str, Any], concrete: ConcreteFunction, inputs: list[Any]) -> None:
        """Let the next call like this one take the fast path."""
        if not all(type(i) is Tensor for i in inputs) or any(not isinstance(thing, Variable) for thing, _ in concrete.atomic.captures):
            return
        executable = concrete.atomic.executable(concrete.atomic.place(inputs))
        if executable.plan.loud or any(i._key.device is not executable.device for i in inputs) or len(inputs) != len(concrete.atomic.arguments):
            return
        if concrete._is_single:
            entry = (executable.plan.run, executable.keys[0], executable.plan)
        else:
            entry = (_arranged(executable, concrete), None, executable.plan)
        if kwargs or self._shortcuts or not all(type(a) is Tensor for a in args):
            self._shortcuts = with_shortcut(self._shortcuts, args, kwargs, inputs, entry)
            return
        if len(self._fast) >= _MOST_FAST:
            self._fast.clear()
        parts = [(a._key, a._buffer.shape) for a in args]
        self._fast[parts[0] if len(parts) == 1 else tuple(parts)] = entry

    def _forget_fast_calls(self) -> None:
        """Let every next call go by the signature."""
        self._fast.clear()
        self._shortcuts = self._taped = ()

    def _find(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[ConcreteFunction, Call]:
        call = self.signature.call(args, kwargs, self._context())
        return self._traces.find(call.key) or self._trace_once(call), call

    def _context(self) -> Any:
        device = LOCAL.device
        return None if device is None else device.name

    # ------------------------------------------------------------------ tracing

    def _trace_once(self, call: Call) -> ConcreteFunction:
        """Trace, unless another thread is at it for the same signature: then wait for its result."""
        with one_at_a_time((id(self), call.key)):
            return self._traces.find(call.key) or self._trace(call)

    def _trace(self, call: Call) -> ConcreteFunction:
        wider = self._widened(call)
        concrete, created = self._run_trace(wider)
        if created:
            concrete, again = self._run_trace(wider, note="the first one made Variables, which this one uses")
            if again:
                variable, source = again[0]
                raise ValueError(
                    f"{self._name!r} creates a Variable ({variable.name}) on every call, at {source}; a traced function may create Variables only "
                    "once, on its first call. Create it outside the function, or guard it: `if self.v is None: self.v = td.Variable(...)`"
                )
        self._forget_fast_calls()  # the next call of each trace goes by the cache, which so learns what is in use
        self._traces.add(concrete, call.key if wider is call and not call.key.is_open else None)
        return concrete

    def _run_trace(self, call: Call, note: str = "") -> tuple[ConcreteFunction, list[Any]]:
        function = self._bound(converted(self._python_function) if self._autograph else self._python_function)
        names, paths = self.signature.names(call)
        start = time.perf_counter()
        self._count += 1
        try:
            traced = trace(function, self.signature, call, names)
        except Exception as error:
            self._history.failed(error, time.perf_counter() - start)
            if isinstance(error, RecursionError) and not hasattr(error, "__notes__"):
                error.add_note(
                    f"{self._name!r} was being traced: a traced function that calls itself is traced anew for every other Python value, one trace "
                    "inside the other. Let a tensor count instead (td.while_loop, or `while` on a tensor), or call the Python function itself"
                )
            raise
        arguments = Arguments(paths, self.signature.structures, self._reduce_retracing)
        self._history.add(call.key, arguments, time.perf_counter() - start, note)
        return traced

    def _bound(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function with its instance, if it is a method; the instance is not kept alive."""
        if self._instance is None:
            return function
        instance = self._instance()
        return lambda *args, **kwargs: function(instance, *args, **kwargs)

    def _widened(self, call: Call) -> Call:
        """The call with sizes replaced by None: as the input signature says, or as earlier traces differ."""
        key = call.key
        if self.signature.specs is not None:
            return Call(key._replace(parts=self.signature.spec_parts(call)), call.leaves)
        if not self._reduce_retracing:
            return call
        for concrete in [*self._traces.relaxed, *self._traces.exact.values()]:
            parts = common_parts(concrete.key, key)
            if parts is not None and parts != key.parts:
                return Call(key._replace(parts=parts), call.leaves)
        return call

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The trace for these arguments, which may be ``TensorSpec``s; traced now if there is none.

        Without arguments, that of the input signature, or the only one there is.
        """
        method = self._method_of(args)
        if method is not None:
            found: ConcreteFunction = method.get_concrete_function(*args[1:], **kwargs)
            return found
        try:
            if not args and not kwargs and self.signature.specs is None and self.signature.needs_arguments and len(self._traces) == 1:
                return self._traces.all()[0]
            if not args and not kwargs and self.signature.specs is not None:
                bound = inspect.BoundArguments(self.signature.python, OrderedDict(self.signature.specs))
                args, kwargs = bound.args, bound.kwargs
            elif self.signature.specs is None:
                args, kwargs = outline(args), outline(kwargs)
            concrete, _ = self._find(args, kwargs)
            concrete.atomic.executable()
        except Exception as error:
            explain_undecided(error)
            show_users_lines(error)
            raise
        return concrete

    def concrete_functions(self) -> list[ConcreteFunction]:
        """Every trace there is, of a method those of its instances too."""
        return [*self._traces.all(), *(concrete for bound in self._instances.values() for concrete in bound._traces.all())]

    def experimental_get_tracing_count(self) -> int:
        """How often the Python function has been traced."""
        return self._count + sum(bound._count for bound in self._instances.values())

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """One line per trace."""
        return "\n\n".join(c.pretty_printed_signature(verbose) for c in self.concrete_functions())

    def explain(self) -> str:
        """For each trace, why it was made: which argument differed from the nearest earlier one, how, and what to do about it."""
        own = [self._history] if self._count or not self._instances.values() else []
        return "\n".join([history.explain() for history in (*own, *(bound._history for bound in self._instances.values()))])

    def clear(self) -> None:
        """Forget every trace, of a method those of its instances too."""
        self._forget_fast_calls()
        self._traces.clear()
        for bound in self._instances.values():
            bound.clear()

    # ------------------------------------------------------------------ methods

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner = weakref.ref(owner)

    def _method_of(self, args: tuple[Any, ...]) -> Any:
        """The instance's own function where a method is called on its class, with the instance as first argument; else None."""
        owner = self._owner()
        if owner is None or not args or not isinstance(args[0], owner):
            return None
        method = self.__get__(args[0])
        return None if getattr(method, "__func__", None) is self else method

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        bound = self._instances.get(instance)
        if bound is None:
            signature = self._signature_of(bound=1)
            bound = Function(self._python_function, self._input_signature, self._autograph, self._reduce_retracing, self._options, signature)
            bound._history = History(self._name, of=f" on this {type(instance).__name__}")
            try:
                bound._instance = weakref.ref(instance)
            except TypeError:  # a class with __slots__ and no __weakref__
                return self._of_unreferable(instance)
            self._instances.put(instance, bound)
        return BoundFunction(bound, instance, self)

    def _of_unreferable(self, instance: Any) -> Any:
        """The method of an instance that cannot be referred to weakly: the instance is an argument, which the traces keep alive.

        Where an input signature says nothing of it, the latest few instances are kept, each with its own traces.
        """
        if self._input_signature is None:
            return types.MethodType(self, instance)
        kept = self._unreferable
        known = kept.pop(id(instance), None)
        if known is None:
            method = types.MethodType(self._python_function, instance)
            known = instance, Function(method, self._input_signature, self._autograph, self._reduce_retracing, self._options)
            if len(kept) >= _MOST_UNREFERABLE:
                kept.popitem(last=False)
        kept[id(instance)] = known
        return known[1]

    def __copy__(self) -> Function:
        return Function(self._python_function, self._input_signature, self._autograph, self._reduce_retracing, self._options)

    def __deepcopy__(self, memo: dict[int, Any]) -> Function:
        twin = memo[id(self)] = object.__new__(Function)  # a bound method may lead back here
        function = self._python_function
        copied = function if isinstance(function, types.FunctionType) else copy.deepcopy(function, memo)
        twin.__init__(copied, self._input_signature, self._autograph, self._reduce_retracing, self._options)  # type: ignore[misc]  # made above
        return twin

    def __reduce__(self) -> str:
        """Pickled by reference, as Python's own functions are."""
        return str(getattr(self, "__qualname__", self._name))

    def __repr__(self) -> str:
        return f"<td.function {self._name!r} with {len(self.concrete_functions())} traces>"


def converted(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with Python control flow on tensors staged, by the plugin ``autograph`` where it is installed."""
    record = plugins.host.load("treadle.plugins", "autograph")
    if record is None or not callable(record.thing):
        return function
    result: Callable[..., Any] = record.thing(function)
    return result


def _nobody() -> None:
    """The class of a function that is no method."""


def _may_be_method(function: Callable[..., Any]) -> bool:
    """True for a function defined in a class body: whether its input signature leaves out ``self`` shows when it is bound."""
    outside = getattr(function, "__qualname__", "").rpartition(".")[0]
    return bool(outside) and not outside.endswith("<locals>")


_new = object.__new__


def _arranged(executable: Any, concrete: ConcreteFunction) -> Callable[..., Any]:
    """A plan's run with its results as tensors in their structure."""
    run, keys, arrange = executable.plan.run, executable.keys, concrete.arrange
    if len(keys) == 1:
        return lambda *buffers: arrange([Tensor(run(*buffers), keys[0])])
    return lambda *buffers: arrange([Tensor(b, k) for b, k in zip(run(*buffers), keys, strict=True)])
