"""However a function is written down, its text is found, and it means what Python means."""

from __future__ import annotations

import importlib.util
import sys

import pytest

import treadle as td

TEXTS = {
    "tabs": "def f(x):\n\tif x > 0:\n\t\ty = x\n\t\tfor k in range(3):\n\t\t\ty += k\n\telse:\n\t        y = -x\n\treturn y\n",
    "windows line ends": "def f(x):\r\n    if x > 0:\r\n        y = x\r\n    else:\r\n        y = '''a\r\nb''' and -x\r\n    return y\r\n",
    "old line ends": "def f(x):\r    if x > 0:\r        return x\r    return -x\r",
    "unicode": "# é\ndef f(ñ):\n    größe = ñ if ñ > 0 else -ñ; s = 'ü'; z = größe + 1 if größe > 2 and ñ < 100 else 0\n"
    "    if ñ < 0 and s == 'ü' and größe > 1: z += 1\n    return z\n",
    "a byte order mark": "\ufeffdef f(x):\n    if x > 0: return x\n    return -x\n",
    "a form feed": "\x0cdef f(x):\n    if x > 0: return x\n\x0c\n    return -x\n",
    "a form feed in a class": "class A:\n    \x0c    # c\n\x0c    def m(self, x):\n        if x > 0: return x\n\x0c\n        return -x\nf = A().m\n",
    "continued lines": "def f(x):\n    y = x + \\\n        1\n    if x > 0 and \\\n       y > 2 or \\\n       (y <\n"
    "        -1):\n        y = \\\n            y * 2\n"
    "    return \\\n        y\n",
    "blocks": "if True:\n  if 1:\n    def f(x):\n      def g(y):\n            if y > 1: return y\n"
    "            return -y\n      return g(x) if x else g(1)\n",
    "text at the margin": "def f(x):\n    '''doc\nat the margin\n    '''\n    s = '''\nnot indented\n'''\n# comment\n    if x > 0:\n# another\n"
    "        return x\n    return len(s)\n",
    "one line": "def f(x): return x if x > 0 else -x",
    "decorators": "def d(*a, **k):\n    return lambda f: f\n@d(lambda x: x if x else 1,\n   k=[lambda y: y,\n   3])\n@d(\n )\n# comment\n\n@d()\n"
    "def f(x,\n      y=(1,\n 2)\n):\n    if x > 0: return x + y[0]\n    return y[1]\n",
    "a method on one line": "class A:\n    def f(self, x): return x if x > 0 else -x\nf = A().f\n",
    "a lambda of a class": "class A:\n    g = lambda self, x: (x if x > 0 else -x)\n"
    "    h = staticmethod(lambda x: (x if x > 1 else -x))\nf = A().g\n",
    "lambdas in a dict": "fs = {'a': lambda x: (x\n  if x > 0\n  else -x), 'b':\n   lambda x: x + 1 if x > 0 else\\\n     x - 1,\n  'é': [lambda x:\n"
    "   x * 2 if x > 0 else 0, lambda x: x * 3 if x > 0 else 1]}\nf = fs['é'][1]\n",
    "lambdas on a line": "fs = [lambda x: x if x > 0 else -x, lambda x: x if x > 1 else -x, lambda y: y if y > 2 else -y]\nf = fs[1]\n",
    "annotations": "from __future__ import annotations\ndef f(x: Nope) -> Undefined:\n    y: 'nope' = x\n    if x > 0: y: int = 5\n    return y\n",
    "names like the converter's": "def f(x):\n    ag__ = 1; ag__1 = 2; ag__test = 3; ag__staged = 4; ag__item = 5; ag__error = 6; ag__result = 7\n"
    "    for ag__2 in range(3):\n        if x > ag__2 and x < 100: ag__1 += ag__2\n"
    "    return x + ag__ + ag__1 + ag__test + ag__staged + ag__item + ag__error + ag__result\n",
    "globals like the converter's": "ag__ = 5\nag__x = 3\ndef f(x):\n    return x + ag__ if x > ag__x else ag__x\n",
    "a closure over such a name": "def make(ag__):\n    def f(x):\n        if x > ag__: return x\n        return ag__\n    return f\nf = make(3)\n",
    "hidden builtins": "range = lambda n: [5, 6]\nlen = lambda x: 100\ndef f(x):\n    t = 0\n    for k in range(x):\n        if k > x: t += k\n"
    "    return t + len([1])\n",
    "a parameter called td": "def f(td):\n    ag = td\n    if td > 0: ag += 4\n    for test in range(3):\n"
    "        if test > td: ag += test\n    return ag\n",
}
if sys.version_info >= (3, 12):
    TEXTS["type parameters"] = (
        "class C[T]:\n    def m[U](self, x: U):\n        if x > 0: return x\n        return -x\n"
        "def f[T](x: T) -> T:\n    type A = int\n    def g[U](y: U) -> U:\n        if y > 0: return y\n"
        "        return -y\n    return g(x) + C().m(x)\n"
    )


@pytest.fixture
def load(tmp_path):
    def run(data):
        path = tmp_path / "written.py"
        path.write_bytes(data)
        spec = importlib.util.spec_from_file_location("written", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.f

    return run


@pytest.mark.parametrize("name", TEXTS)
def test_its_text_is_found(name, load):
    means_the_same(load(TEXTS[name].encode()))


def test_another_encoding(load):
    means_the_same(
        load(
            "# -*- coding: latin-1 -*-\ndef f(x):\n    s = 'é' ; y = x if x > 0 else -x\n    if s == 'é' and x > 0: y += 1\n    return y\n".encode(
                "latin-1"
            )
        )
    )


def means_the_same(f):
    converted, traced = td.autograph.to_graph(f), td.function(f)
    for x in (-3, 0, 1, 2, 5):
        assert converted(x) == int(traced(td.constant(x))) == f(x)
