"""Fourier and cosine transforms, frames, windows and spectrograms, compared with NumPy and with their definitions."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError, UnimplementedError

rng = np.random.default_rng(3)
REAL = rng.standard_normal((2, 3, 4, 5))
COMPLEX = REAL + 1j * rng.standard_normal(REAL.shape)


def close(got, want):
    got = np.asarray(got)
    tolerance = 1e-5 if got.dtype in (np.float32, np.complex64) else 1e-11
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


# ---------------------------------------------------------------------- Fourier transforms


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_complex_transforms_are_those_of_numpy_and_keep_the_dtype(every_mode, rank, dtype):
    suffix = "" if rank == 1 else f"{rank}d"
    axes = tuple(range(-rank, 0))
    x = COMPLEX.astype(dtype)
    for name, reference in (("fft", np.fft.fftn), ("ifft", np.fft.ifftn)):
        (got,) = every_mode(getattr(td.signal, name + suffix), x)
        assert got.dtype == dtype
        close(got, reference(x, axes=axes))


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("lengths", [None, [4, 2, 8], [2, 6, 3]])
def test_real_transforms_cut_and_continue_to_the_lengths(every_mode, rank, lengths):
    suffix = "" if rank == 1 else f"{rank}d"
    axes = tuple(range(-rank, 0))
    lengths = lengths and lengths[:rank]
    (got,) = every_mode(lambda x: getattr(td.signal, "rfft" + suffix)(x, lengths), REAL)
    close(got, np.fft.rfftn(REAL, lengths, axes=axes))
    (got,) = every_mode(lambda x: getattr(td.signal, "irfft" + suffix)(x, lengths), COMPLEX)
    close(got, np.fft.irfftn(COMPLEX, lengths, axes=axes))


TRANSFORMS = [("fftnd", np.fft.fftn, COMPLEX), ("ifftnd", np.fft.ifftn, COMPLEX), ("rfftnd", np.fft.rfftn, REAL), ("irfftnd", np.fft.irfftn, COMPLEX)]


@pytest.mark.parametrize(("name", "reference", "x"), TRANSFORMS)
@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize("lengths", [None, [3, 4]])
def test_transforms_over_any_axes(every_mode, name, reference, x, norm, lengths):
    (got,) = every_mode(lambda x: getattr(td.signal, name)(x, lengths, [2, 0], norm), x)
    close(got, reference(x, lengths, axes=[2, 0], norm=norm))


@pytest.mark.parametrize(("name", "reference", "x"), TRANSFORMS)
def test_transforms_over_all_axes_and_under_their_raw_names(name, reference, x):
    close(getattr(td.signal, name)(x), reference(x, axes=range(4)))
    close(getattr(td, name)(x, [3, 4], [2, 0]), reference(x, [3, 4], axes=[2, 0]))


def test_lengths_may_be_known_only_when_the_trace_runs():
    @td.function(input_signature=[td.TensorSpec([None]), td.TensorSpec([1], "int32")])
    def there_and_back(x, n):
        spectrum = td.signal.rfft(x, n)
        return spectrum, td.signal.irfft(spectrum, n)

    for n in (4, 5, 9):
        x = rng.standard_normal(6).astype(np.float32)
        spectrum, back = there_and_back(x, [n])
        close(spectrum, np.fft.rfft(x, n))
        close(back, np.resize(np.pad(x, (0, 9)), n))


@pytest.mark.parametrize("n", [4, 5, 6, 9])
def test_gradients_of_real_transforms_of_any_order(check_gradient, n):
    def energy(x):
        spectrum = td.signal.rfft2d(x, [3, n])
        weights = td.cast(td.range(1, n // 2 + 2), "float64")
        return td.math.real(spectrum) * weights + td.math.imag(spectrum) ** 2

    def back(re, im):
        return td.signal.irfft2d(td.complex(re, im), [3, n]) ** 2

    check_gradient(energy, REAL[0, 0, :3, :])
    check_gradient(back, REAL[0, 0, :3, :3], REAL[0, 1, :3, :3], rtol=1e-4, atol=1e-6)


def test_gradients_over_axes_counted_from_the_front(check_gradient):
    def energy(x):
        spectrum = td.signal.rfftnd(x, axes=[2, 0], norm="ortho")
        return td.math.real(spectrum * td.math.conj(spectrum))

    check_gradient(energy, REAL[:, :2, :3, 0], rtol=1e-4, atol=1e-6)


def test_the_gradient_of_a_complex_transform_is_the_opposite_one(every_mode):
    def gradients(x, g):
        results = []
        for fn in (td.signal.fft, td.signal.ifft):
            with td.GradientTape() as tape:
                tape.watch(x)
                y = fn(x)
            results.append(tape.gradient(y, x, output_gradients=g))
        return results

    g = np.conj(COMPLEX)
    forward, backward = every_mode(gradients, COMPLEX, g)
    close(forward, 5 * np.fft.ifft(g))
    close(backward, np.fft.fft(g) / 5)


def test_transforms_of_nothing_are_empty():
    assert td.signal.fft(np.zeros((2, 0), np.complex64)).shape == (2, 0)
    assert td.signal.rfft(np.zeros((0, 6), np.float32)).shape == (0, 4)
    assert td.signal.rfft(np.zeros((3, 0), np.float32)).shape == (3, 0)
    assert td.signal.irfft(np.zeros((0, 4), np.complex64)).shape == (0, 6)


def test_wrong_inputs_of_transforms_are_refused(refuses):
    refuses(ShapeError, td.signal.fft, np.complex64(1), match="rank 0")
    refuses(ShapeError, td.signal.rfft2d, np.ones(3, np.float32), match="rank 1")
    refuses(DTypeError, td.signal.fft, np.ones(3, np.float32), match="float32")
    refuses(DTypeError, td.signal.rfft, np.ones(3, np.complex64), match="complex64")
    refuses(DTypeError, td.signal.irfft, np.ones(3, np.float32), match="float32")
    refuses(ShapeError, lambda x: td.signal.rfft(x, [2, 3]), np.ones(3, np.float32), match="fft_length")
    refuses(InvalidArgumentError, lambda x: td.signal.rfft(x, [-2]), np.ones(3, np.float32), match="non-negative")
    refuses(InvalidArgumentError, lambda x: td.signal.irfft(x, [0]), np.ones(3, np.complex64), match="greater than 0")
    refuses(InvalidArgumentError, lambda x: td.signal.fftnd(x, axes=[0, 0]), np.ones((3, 2), np.complex64), match="twice")
    refuses(InvalidArgumentError, lambda x: td.signal.fftnd(x, norm="l2"), np.ones(3, np.complex64), match="norm")


@pytest.mark.parametrize("axes", [None, 1, [0, -1]])
def test_shifts_are_those_of_numpy(every_mode, axes):
    x = np.arange(35).reshape(5, 7)
    (got,) = every_mode(lambda x: td.signal.fftshift(x, axes), x, rank=axes is not None)
    np.testing.assert_array_equal(got, np.fft.fftshift(x, axes))
    (got,) = every_mode(lambda x: td.signal.ifftshift(x, axes), x, rank=axes is not None)
    np.testing.assert_array_equal(got, np.fft.ifftshift(x, axes))


# ---------------------------------------------------------------------- cosine transforms


def cosine_sums(x, type, ortho):
    """The definition, as a matrix product."""
    n = x.shape[-1]
    i, k = np.arange(n)[:, None], np.arange(n)
    if type == 1:
        matrix = 2 * np.cos(np.pi * i * k / (n - 1))
        matrix[[0, -1]] /= 2
    elif type == 2:
        matrix = 2 * np.cos(np.pi * (2 * i + 1) * k / (2 * n))
        if ortho:
            matrix /= np.where(k == 0, 2, np.sqrt(2)) * np.sqrt(n)
    elif type == 3:
        matrix = (np.where(i == 0, 1 / np.sqrt(2), 1) * np.sqrt(2 / n) if ortho else np.where(i == 0, 1, 2)) * np.cos(
            np.pi * i * (2 * k + 1) / (2 * n)
        )
    else:
        matrix = 2 * np.cos(np.pi * (2 * i + 1) * (2 * k + 1) / (4 * n))
        if ortho:
            matrix /= np.sqrt(2 * n)
    return x @ matrix


@pytest.mark.parametrize(("type", "norm"), [(1, None), (2, None), (2, "ortho"), (3, None), (3, "ortho"), (4, None), (4, "ortho")])
@pytest.mark.parametrize("n", [None, 3, 8])
def test_cosine_transforms_are_their_sums(every_mode, type, norm, n):
    x = REAL[0]
    signal = x if n is None else np.pad(x, [(0, 0), (0, 0), (0, 8)])[..., :n]
    (got,) = every_mode(lambda x: td.signal.dct(x, type, n, norm=norm), x)
    close(got, cosine_sums(signal, type, norm == "ortho"))
    (back,) = every_mode(lambda y: td.signal.idct(y, type, norm=norm), got)
    size = signal.shape[-1]
    close(back, signal * (1 if norm else 2 * (size - 1) if type == 1 else 2 * size))


@pytest.mark.parametrize("type", [1, 2, 3, 4])
def test_gradients_of_cosine_transforms(check_linear, type):
    check_linear(lambda x: td.signal.dct(x, type), (2, 5))


def test_wrong_arguments_of_cosine_transforms_are_refused(refuses):
    x = np.ones(4, np.float32)
    for options in ({"type": 5}, {"norm": "l2"}, {"type": 1, "norm": "ortho"}, {"n": 0}):
        refuses(ValueError, lambda x, options=options: td.signal.dct(x, **options), x)
    refuses(UnimplementedError, lambda x: td.signal.dct(x, axis=0), x)
    refuses(DTypeError, td.signal.dct, np.ones(4, np.int32))
    refuses(ShapeError, td.signal.dct, np.float32(1))
    with pytest.raises(ValueError, match="2 samples"):
        td.signal.dct(x[:1], type=1)
    refuses(InvalidArgumentError, lambda x: td.signal.dct(x, type=1, n=1), x[:1], match="2 samples")


def test_a_transform_of_type_1_may_be_cut_to_one_sample(every_mode, check_linear):
    for function in (td.signal.dct, td.signal.idct):
        (got,) = every_mode(lambda x, f=function: f(x, type=1, n=1), np.float32([[3, 1, 2], [5, 0, 1]]))
        np.testing.assert_array_equal(got, [[3], [5]])
        check_linear(lambda x, f=function: f(x, type=1, n=1), (2, 3))


# ---------------------------------------------------------------------- frames


def cut(x, length, step, pad_end, value):
    n = x.shape[-1]
    count = -(-n // step) if pad_end else max(0, 1 + (n - length) // step)
    whole = np.concatenate([x, np.full((*x.shape[:-1], length + step * count), value, x.dtype)], -1)
    return np.stack([whole[..., i * step : i * step + length] for i in range(count)], -2) if count else np.zeros((*x.shape[:-1], 0, length), x.dtype)


@pytest.mark.parametrize("pad_end", [False, True])
@pytest.mark.parametrize(("length", "step"), [(4, 2), (3, 3), (2, 5), (5, 1), (12, 2)])
def test_frames_of_a_signal(every_mode, check_linear, length, step, pad_end):
    x = rng.standard_normal((2, 9))
    (got,) = every_mode(lambda x: td.signal.frame(x, length, step, pad_end, 7.0), x)
    np.testing.assert_array_equal(got, cut(x, length, step, pad_end, 7.0))
    check_linear(lambda x: td.signal.frame(x, length, step, pad_end), (2, 9))


def test_frames_along_another_axis(every_mode, check_linear):
    x = np.arange(54, dtype=np.int32).reshape(2, 9, 3)
    (got,) = every_mode(lambda x: td.signal.frame(x, 4, 3, True, -1, axis=1), x)
    np.testing.assert_array_equal(got, np.moveaxis(cut(np.moveaxis(x, 1, 2), 4, 3, True, -1), 1, 3))
    check_linear(lambda x: td.signal.frame(x, 4, 3, True, axis=1), (2, 9, 3))


@pytest.mark.parametrize("step", [1, 2, 4, 6])
def test_frames_are_added_where_they_overlap(every_mode, check_linear, step):
    frames = rng.standard_normal((2, 3, 4))
    want = np.zeros((2, 2 * step + 4))
    for i in range(3):
        want[:, i * step : i * step + 4] += frames[:, i]
    (got,) = every_mode(lambda x: td.signal.overlap_and_add(x, step), frames)
    np.testing.assert_allclose(got, want, rtol=1e-15, atol=1e-15)
    check_linear(lambda x: td.signal.overlap_and_add(x, step), (2, 3, 4))


def test_wrong_frames_are_refused(refuses):
    x = np.ones((2, 4), np.float32)
    refuses(InvalidArgumentError, lambda x: td.signal.frame(x, 0, 1), x, match="frame_length")
    refuses(InvalidArgumentError, lambda x: td.signal.frame(x, 2, 0), x, match="frame_step")
    refuses(InvalidArgumentError, lambda x: td.signal.frame(x, 2, 1, axis=2), x, match="axis")
    refuses(ShapeError, lambda x: td.signal.frame(x, 2, 1), np.float32(1), match="scalar")
    refuses(ShapeError, lambda x: td.signal.overlap_and_add(x, 2), np.ones(3, np.float32), match="rank 1")


# ---------------------------------------------------------------------- windows


@pytest.mark.parametrize("length", [0, 1, 2, 5, 8])
def test_windows_are_their_formulas(length):
    for name, offset in (("hann_window", 0.5), ("hamming_window", 0.54)):
        function = getattr(td.signal, name)
        for periodic in (True, False):
            period = length - 1 + (periodic and length % 2 == 0)
            want = offset - (1 - offset) * np.cos(2 * np.pi * np.arange(length) / max(period, 1)) if length != 1 else np.ones(1)
            close(function(length, periodic, "float64"), want)
            traced = td.function(lambda n, f=function, p=periodic: f(n, p), input_signature=[td.TensorSpec([], "int32")])
            close(traced(length), want)
    for beta in (12.0, 4):
        want = np.kaiser(length, beta)
        close(td.signal.kaiser_window(length, beta, "float64"), want)
        assert td.signal.kaiser_window(length, beta, "float16").dtype is td.float16


def test_wrong_windows_are_refused():
    for function in (td.signal.hann_window, td.signal.hamming_window, td.signal.kaiser_window):
        with pytest.raises(ShapeError, match="scalar"):
            function([3, 4])
        with pytest.raises(InvalidArgumentError, match="floating"):
            function(4, dtype="int32")
        with pytest.raises(InvalidArgumentError, match="0 or more"):
            function(-1)


# ---------------------------------------------------------------------- spectrograms


def test_a_spectrogram_is_the_transform_of_windowed_frames_and_can_be_inverted(every_mode):
    x = rng.standard_normal((2, 40))
    (got,) = every_mode(lambda x: td.signal.stft(x, 12, 3), x)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(12) / 12)
    close(got, np.fft.rfft(cut(x, 12, 3, False, 0) * window, 16))
    inverse_window = td.signal.inverse_stft_window_fn(3)
    (back,) = every_mode(lambda y: td.signal.inverse_stft(y, 12, 3, window_fn=inverse_window), got)
    close(back[:, 9:30], x[:, 9:30])


def test_an_inverse_window_is_0_where_nothing_overlaps(every_mode):
    (window,) = every_mode(lambda w: td.signal.inverse_stft_window_fn(3, lambda length, dtype: w)(3, td.float32), np.float32([0, 2, 0]))
    np.testing.assert_array_equal(window, [0, 0.5, 0])
    np.testing.assert_array_equal(td.signal.inverse_stft_window_fn(3)(3, td.float32), [0, 1, 0])


def test_a_transform_may_be_shorter_than_a_frame_and_there_may_be_no_window(every_mode):
    x = rng.standard_normal((2, 40))
    (got,) = every_mode(lambda x: td.signal.stft(x, 12, 6, 8, None, pad_end=True), x)
    close(got, np.fft.rfft(cut(x, 12, 6, True, 0), 8))
    (back,) = every_mode(lambda y: td.signal.inverse_stft(y, 12, 6, 8, None), got)
    assert back.shape == (2, 48)


def test_lengths_of_a_spectrogram_may_be_tensors():
    traced = td.function(lambda x, n, s: td.signal.stft(x, n, s), input_signature=[td.TensorSpec([None]), *[td.TensorSpec([], "int32")] * 2])
    x = rng.standard_normal(30).astype(np.float32)
    for n in (1, 8, 9):
        close(traced(x, n, 3), td.signal.stft(x, n, 3))


def test_the_gradient_of_a_spectrogram(check_gradient):
    check_gradient(lambda x: td.abs(td.signal.stft(x, 4, 2)) ** 2, REAL[0, 0, 0, :] + 2, rtol=1e-4, atol=1e-5)


def test_mel_bands_are_triangles():
    got = np.asarray(td.signal.linear_to_mel_weight_matrix(3, 17, 8000, 100.0, 3500.0, "float64"))

    def mel(f):
        return 1127 * np.log(1 + f / 700)

    edges = np.linspace(mel(100.0), mel(3500.0), 5)
    points = mel(np.linspace(0, 4000, 17))
    want = np.stack([np.interp(points, edges[i : i + 3], [0, 1, 0]) for i in range(3)], -1)
    np.testing.assert_allclose(got, want, atol=1e-12)
    for arguments in ((0,), (4, 8, -1), (4, 8, 8000, -1.0), (4, 8, 8000, 200.0, 100.0), (4, 8, 8000, 125.0, 5000.0)):
        with pytest.raises(InvalidArgumentError):
            td.signal.linear_to_mel_weight_matrix(*arguments)
