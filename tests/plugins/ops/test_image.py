"""Images resized, cut, turned, filtered and recolored, boxes chosen among overlapping ones, and images changed at random."""

from __future__ import annotations

import colorsys

import numpy as np
import pytest

import treadle as td
from treadle.errors import DTypeError, InvalidArgumentError, OutOfRangeError, ShapeError

rng = np.random.default_rng(4)
IMAGES = rng.random((2, 5, 6, 3)).astype(np.float32)


def linear(fn, shape, like=np.float32):
    """Check that the gradient of a linear function is its adjoint, and that the gradient of that is the function again."""
    x, v = (td.constant(rng.standard_normal(shape).astype(like)) for _ in range(2))
    for traced in (lambda f: f, lambda f: td.function(f, autograph=False)):

        @traced
        def both(x, v):
            with td.GradientTape() as outer:
                with td.GradientTape() as tape:
                    tape.watch(x)
                    y = fn(x)
                g = td.cast(td.range(1, td.size(y) + 1), y.dtype) / td.cast(td.size(y), y.dtype)
                g = td.reshape(g, td.shape(y))
                outer.watch(g)
                back = tape.gradient(y, x, output_gradients=g)
            return g, back, outer.gradient(back, g, output_gradients=v), fn(v)

        g, back, again, image = map(np.asarray, both(x, v))
        np.testing.assert_allclose(np.sum(back * np.asarray(v)), np.sum(g * image), rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(again, image, rtol=1e-4, atol=1e-5)


# ---------------------------------------------------------------------- resizing


def interpolated(x, size, kernel, radius, antialias):
    """Every element of the result as a weighted mean of those around its place."""
    for axis, wanted in zip((1, 2), size, strict=True):
        n = x.shape[axis]
        stretch = max(n / wanted, 1) if antialias else 1
        at = (np.arange(wanted) + 0.5) * n / wanted
        distance = abs(np.arange(n) + 0.5 - at[:, None]) / stretch
        weights = np.where(distance <= radius, kernel(distance), 0)
        weights /= weights.sum(1, keepdims=True)
        x = np.moveaxis(np.tensordot(weights, x, (1, axis)), 0, axis)
    return x


def keys(d):
    return np.where(d < 1, (1.5 * d - 2.5) * d * d + 1, np.where(d < 2, ((-0.5 * d + 2.5) * d - 4) * d + 2, 0))


def mitchell(d):
    return np.where(d < 1, (7 * d**3 - 12 * d**2 + 16 / 3) / 6, (-7 / 3 * d**3 + 12 * d**2 - 20 * d + 32 / 3) / 6)


KERNELS = {
    "bilinear": (lambda d: np.maximum(1 - d, 0), 1),
    "bicubic": (keys, 2),
    "lanczos3": (lambda d: np.sinc(d) * np.sinc(d / 3), 3),
    "lanczos5": (lambda d: np.sinc(d) * np.sinc(d / 5), 5),
    "gaussian": (lambda d: np.where(d < 1.5, np.exp(-2 * d * d), 0), 1.5),
    "mitchellcubic": (mitchell, 2),
}


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("size", [(9, 4), (2, 11), (5, 6)])
@pytest.mark.parametrize("method", KERNELS)
def test_resizing_is_a_weighted_mean(every_mode, method, size, antialias):
    (got,) = every_mode(lambda x: td.image.resize(x, size, method, antialias=antialias), IMAGES, rank=False)
    atol = 3e-3 if method == "bicubic" and not antialias else 1e-5  # TensorFlow takes bicubic weights from a table
    np.testing.assert_allclose(got, interpolated(IMAGES, size, *KERNELS[method], antialias), atol=atol)


@pytest.mark.parametrize("method", ["bilinear", "nearest", "bicubic", "area", "lanczos3"])
@pytest.mark.parametrize("size", [(9, 4), (5, 6), (1, 1)])
@pytest.mark.parametrize("antialias", [False, True])
def test_gradients_of_resizing(method, size, antialias):
    linear(lambda x: td.image.resize(x, size, method, antialias=antialias), (2, 5, 6, 3))


def test_nearest_takes_elements_and_keeps_the_dtype(every_mode):
    x = np.arange(60, dtype=np.int16).reshape(1, 5, 6, 2)
    (got,) = every_mode(lambda x: td.image.resize(x, [7, 3], "nearest"), x, rank=False)
    assert got.dtype == np.int16
    rows, columns = ((np.arange(n) + 0.5) * m // n for n, m in ((7, 5), (3, 6)))
    np.testing.assert_array_equal(got, x[:, rows.astype(int)][:, :, columns.astype(int)])


def test_area_is_the_mean_of_what_is_covered():
    x = rng.random((1, 6, 4, 1)).astype(np.float32)
    np.testing.assert_allclose(td.image.resize(x, [3, 2], "area"), x.reshape(1, 3, 2, 2, 2, 1).mean((2, 4)), rtol=1e-6)


def test_single_images_integers_and_sizes_in_tensors():
    x = (IMAGES[0] * 255).astype(np.uint8)
    got = td.image.resize(x, td.constant([3, 4]))
    assert got.dtype is td.float32
    assert got.shape == (3, 4, 3)
    traced = td.function(td.image.resize, input_signature=[td.TensorSpec([None, None, 3], "uint8"), td.TensorSpec([2], "int32")])
    np.testing.assert_array_equal(traced(x, [3, 4]), got)


@pytest.mark.parametrize("shape", [(8, 4, 1), (3, 9, 1), (7, 7, 1)])
def test_resizing_may_keep_the_ratio(shape):
    x = rng.random(shape).astype(np.float32)

    def both(x):
        return td.image.resize(x, [6, 5], preserve_aspect_ratio=True), td.image.resize_with_pad(x, 6, 5)

    small, framed = both(x)
    scale = min(6 / shape[0], 5 / shape[1])
    assert small.shape == (round(shape[0] * scale), round(shape[1] * scale), 1)
    assert framed.shape == (6, 5, 1)
    for got, want in zip(td.function(both, input_signature=[td.TensorSpec([None, None, 1])])(x), (small, framed), strict=True):
        np.testing.assert_array_equal(got, want)


def test_padding_is_even_on_both_sides():
    got = np.asarray(td.image.resize_with_pad(np.ones((4, 8, 1), np.float32), 8, 8))[..., 0]
    np.testing.assert_array_equal(got, np.pad(np.ones((4, 8)), [(2, 2), (0, 0)]))


def test_wrong_resizing_is_refused(refuses):
    x = IMAGES[0]
    refuses(ShapeError, lambda x: td.image.resize(x, [2, 2]), x[0], match="rank")
    refuses(ShapeError, lambda x: td.image.resize(x, [2]), x, match="size")
    refuses(InvalidArgumentError, lambda x: td.image.resize(x, [2, 0]), x, match="1 or more")
    refuses(InvalidArgumentError, lambda x: td.image.resize(x, [2, 2], "cubic"), x, match="methods")
    refuses(InvalidArgumentError, lambda x: td.image.resize_with_pad(x, 0, 2), x, match="target_height")
    for empty in (np.zeros((1, 4, 0, 1)), np.zeros((1, 0, 4, 1)), np.zeros((1, 0, 0, 1))):
        for method in ("bilinear", "nearest"):
            refuses(InvalidArgumentError, lambda x, m=method: td.image.resize(x, [9, 11], m, preserve_aspect_ratio=True), empty, match="1 or more")
            refuses(InvalidArgumentError, lambda x, m=method: td.image.resize_with_pad(x, 9, 11, m), empty, match="1 or more")


# ---------------------------------------------------------------------- geometry


@pytest.mark.parametrize("x", [IMAGES, IMAGES[0], (IMAGES * 9).astype(np.int32)])
def test_flips_and_turns(every_mode, x):
    h, w = x.ndim - 3, x.ndim - 2
    np.testing.assert_array_equal(every_mode(td.image.flip_left_right, x)[0], np.flip(x, w))
    np.testing.assert_array_equal(every_mode(td.image.flip_up_down, x)[0], np.flip(x, h))
    np.testing.assert_array_equal(every_mode(td.image.transpose, x, rank=False)[0], np.swapaxes(x, h, w))
    for k in (-1, 0, 1, 2, 3, 6):
        np.testing.assert_array_equal(every_mode(lambda x, k=k: td.image.rot90(x, k), x, rank=False)[0], np.rot90(x, k, (h, w)))


@pytest.mark.parametrize("target", [(8, 3), (2, 9), (5, 6), (4, 7)])
def test_crops_and_frames(every_mode, target):
    (got,) = every_mode(lambda x: td.image.resize_with_crop_or_pad(x, *target), IMAGES, rank=False)
    want = IMAGES
    for axis, wanted in zip((1, 2), target, strict=True):
        missing = wanted - want.shape[axis]
        if missing > 0:
            want = np.pad(want, [(missing // 2, missing - missing // 2) if i == axis else (0, 0) for i in range(4)])
        else:
            want = np.take(want, np.arange(wanted) + (-missing) // 2, axis)
    np.testing.assert_array_equal(got, want)
    linear(lambda x: td.image.resize_with_crop_or_pad(x, *target), IMAGES.shape)


@pytest.mark.parametrize("fraction", [0.1, 0.5, 0.6, 1.0])
def test_the_middle_of_images(every_mode, fraction):
    (got,) = every_mode(lambda x: td.image.central_crop(x, fraction), IMAGES[0], rank=False)
    a, b = (int((n - n * fraction) / 2) for n in (5, 6))
    np.testing.assert_array_equal(got, IMAGES[0, a : 5 - a, b : 6 - b])


def test_wrong_geometry_is_refused(refuses):
    for function in (td.image.flip_left_right, td.image.flip_up_down, td.image.transpose, td.image.rot90):
        refuses(ShapeError, function, np.ones(4), match="rank 1")
    for fraction in (0.0, 1.5):
        refuses(InvalidArgumentError, lambda x, fraction=fraction: td.image.central_crop(x, fraction), IMAGES, match="central_fraction")
    refuses(InvalidArgumentError, lambda x: td.image.resize_with_crop_or_pad(x, 2, 0), IMAGES, match="target_width")


# ---------------------------------------------------------------------- colors


def each(function, x):
    return np.apply_along_axis(lambda c: function(*c), -1, x)


def test_hue_saturation_and_value(every_mode):
    x = IMAGES.astype(np.float64)
    x[0, 0] = x[0, 0, :, :1]
    x[0, 1, 0] = 0
    (got,) = every_mode(td.image.rgb_to_hsv, x)
    np.testing.assert_allclose(got, each(colorsys.rgb_to_hsv, x), atol=1e-12)
    (back,) = every_mode(td.image.hsv_to_rgb, got)
    np.testing.assert_allclose(back, x, atol=1e-12)


@pytest.mark.parametrize("space", ["yiq", "yuv"])
def test_linear_color_spaces_can_be_left_again(every_mode, space):
    there, back = getattr(td.image, f"rgb_to_{space}"), getattr(td.image, f"{space}_to_rgb")
    for x in (IMAGES, IMAGES[0, 0, 0]):
        (got,) = every_mode(there, x)
        np.testing.assert_allclose(got[..., 0], x @ [0.299, 0.587, 0.114], rtol=1e-5)
        np.testing.assert_allclose(every_mode(back, got)[0], x, atol=1e-4)


def test_gray(every_mode):
    (got,) = every_mode(td.image.rgb_to_grayscale, IMAGES)
    np.testing.assert_allclose(got[..., 0], IMAGES @ [0.2989, 0.587, 0.114], rtol=1e-5)
    np.testing.assert_array_equal(every_mode(td.image.grayscale_to_rgb, got)[0], np.repeat(got, 3, -1))
    assert td.image.rgb_to_grayscale((IMAGES * 255).astype(np.uint8)).dtype is td.uint8


def test_adjustments(every_mode):
    x = IMAGES
    np.testing.assert_allclose(every_mode(lambda x: td.image.adjust_brightness(x, 0.2), x)[0], x + 0.2, rtol=1e-6)
    mean = x.mean((1, 2), keepdims=True)
    np.testing.assert_allclose(every_mode(lambda x: td.image.adjust_contrast(x, 1.7), x)[0], (x - mean) * 1.7 + mean, rtol=1e-4)
    np.testing.assert_allclose(every_mode(lambda x: td.image.adjust_gamma(x, 0.5, 2), x)[0], 2 * x**0.5, rtol=1e-5)

    def turned(r, g, b):
        h, s, v = colorsys.rgb_to_hsv(r, g, b)
        return colorsys.hsv_to_rgb((h - 0.9) % 1, s, v)

    np.testing.assert_allclose(every_mode(lambda x: td.image.adjust_hue(x, -0.9), x)[0], each(turned, x), atol=1e-5)
    np.testing.assert_allclose(every_mode(lambda x: td.image.adjust_hue(x, 1.0), x)[0], x, atol=1e-5)

    def more(r, g, b):
        h, s, v = colorsys.rgb_to_hsv(r, g, b)
        return colorsys.hsv_to_rgb(h, min(1, 1.5 * s), v)

    np.testing.assert_allclose(every_mode(lambda x: td.image.adjust_saturation(x, 1.5), x)[0], each(more, x), atol=1e-5)


def test_integer_colors_are_cut_at_the_ends_of_their_range():
    x = np.array([[[0, 100, 250]]], np.uint8)
    np.testing.assert_array_equal(td.image.adjust_brightness(x, 0.2), [[[51, 151, 255]]])
    np.testing.assert_array_equal(td.image.adjust_brightness(x, -0.2), [[[0, 49, 199]]])
    assert td.image.adjust_hue(x, 0.2).dtype is td.uint8


def test_gradients_of_colors(check_gradient):
    x = IMAGES[0, :1, :3]
    check_gradient(lambda x: td.image.rgb_to_hsv(x) ** 2, x)
    check_gradient(lambda x: td.image.hsv_to_rgb(x) ** 2, x)
    check_gradient(td.image.rgb_to_yuv, x)


def test_wrong_colors_are_refused(refuses):
    gray = np.ones((2, 2, 2), np.float32)
    for name in ("rgb_to_hsv", "hsv_to_rgb", "rgb_to_yiq", "rgb_to_grayscale", "grayscale_to_rgb"):
        refuses(InvalidArgumentError, getattr(td.image, name), gray)
    refuses(InvalidArgumentError, lambda x: td.image.adjust_hue(x, 0.1), gray)
    with pytest.raises(ShapeError, match="3 channels"):
        td.image.adjust_saturation(gray, 0.1)
    refuses(DTypeError, td.image.rgb_to_hsv, np.ones((2, 3), np.int32), match="int32")
    refuses(InvalidArgumentError, lambda x: td.image.adjust_gamma(x, -1.0), gray, match="gamma")
    with pytest.raises(InvalidArgumentError, match="delta"):
        td.image.adjust_hue(IMAGES, 2.0)
    with pytest.raises(InvalidArgumentError, match="gamma"):
        td.function(td.image.adjust_gamma, input_signature=[td.TensorSpec([None]), td.TensorSpec([])])([1.0], -1.0)


# ---------------------------------------------------------------------- filters


def test_differences_between_neighbours(every_mode):
    x = IMAGES.astype(np.float64)
    down, right = every_mode(td.image.image_gradients, x)
    np.testing.assert_array_equal(down[:, :-1], x[:, 1:] - x[:, :-1])
    np.testing.assert_array_equal(right[:, :, :-1], x[:, :, 1:] - x[:, :, :-1])
    assert not down[:, -1].any()
    assert not right[:, :, -1].any()
    (total,) = every_mode(td.image.total_variation, x)
    np.testing.assert_allclose(total, abs(down).sum((1, 2, 3)) + abs(right).sum((1, 2, 3)))
    assert td.image.total_variation(x[0]).shape == ()
    (edges,) = every_mode(td.image.sobel_edges, x)
    framed = np.pad(x, [(0, 0), (1, 1), (1, 1), (0, 0)], "reflect")
    smooth, slope = np.array([1, 2, 1]), np.array([-1, 0, 1])
    for i, kernel in enumerate((np.outer(slope, smooth), np.outer(smooth, slope))):
        want = sum(kernel[a, b] * framed[:, a : a + 5, b : b + 6] for a in range(3) for b in range(3))
        np.testing.assert_allclose(edges[..., i], want, atol=1e-12)


@pytest.mark.parametrize("fit", [td.image.resize_with_pad, td.image.resize_with_crop_or_pad])
def test_the_size_that_images_are_framed_to_is_known_while_tracing(shape_while_tracing, fit):
    assert shape_while_tracing(lambda x: fit(x, 8, 9), [None, None, 3]) == (8, 9, 3)
    assert shape_while_tracing(lambda x: fit(x, 8, 9), [None, None, None, 3]) == (None, 8, 9, 3)
    assert shape_while_tracing(lambda x, n: fit(x, n, 9), [2, 5, 6, None], [], dtypes=["float32", "int32"]) == (2, None, 9, None)


def test_the_sizes_that_are_known_of_cropped_images_stay_known(shape_while_tracing):
    assert shape_while_tracing(lambda x: td.image.central_crop(x, 0.5), [None, None, 3]) == (None, None, 3)
    assert shape_while_tracing(lambda x: td.image.central_crop(x, 0.5), [2, 5, None, 3]) == (2, 3, None, 3)


def test_resized_boxes_have_rank_4_whatever_is_known(shape_while_tracing):
    def resized(image, boxes, owners):
        return td.image.crop_and_resize(image, boxes, owners, [2, 3])

    assert shape_while_tracing(resized, None, None, None, dtypes=["float32", "float32", "int32"]) == (None, 2, 3, None)
    assert shape_while_tracing(resized, [None, None, None, 3], None, None, dtypes=["float32", "float32", "int32"]) == (None, 2, 3, 3)


def test_images_of_mean_0_and_variance_1(every_mode, check_gradient):
    (got,) = every_mode(td.image.per_image_standardization, IMAGES, rank=False)
    np.testing.assert_allclose(got.mean((1, 2, 3)), 0, atol=1e-6)
    np.testing.assert_allclose(got.std((1, 2, 3)), 1, rtol=1e-5)
    flat = td.constant(np.full((2, 2, 1), 0.5, np.float32))
    with td.GradientTape() as tape:
        tape.watch(flat)
        y = td.image.per_image_standardization(flat)
    np.testing.assert_array_equal(y, np.zeros((2, 2, 1)))
    assert np.isfinite(tape.gradient(y, flat)).all()


@pytest.mark.parametrize("dtype", ["int32", "uint8", "float16", "float64"])
def test_images_of_every_dtype_become_float32_of_the_same_numbers_before_they_are_standardized(every_mode, dtype):
    numbers = np.arange(12).reshape(2, 2, 3)
    (got,) = every_mode(td.image.per_image_standardization, numbers.astype(dtype), rank=False)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, (numbers - numbers.mean()) / numbers.std(), rtol=1e-6)


def test_wrong_ranks_of_filters_are_refused(refuses):
    for function in (td.image.image_gradients, td.image.sobel_edges):
        refuses(ShapeError, function, IMAGES[0], match="rank 3")
    for function in (td.image.total_variation, td.image.per_image_standardization):
        refuses(ShapeError, function, IMAGES[0, 0], match="rank 2")


# ---------------------------------------------------------------------- pieces


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(("size", "stride", "rate"), [((3, 2), (2, 1), (1, 1)), ((2, 2), (1, 3), (2, 1)), ((1, 1), (2, 2), (1, 1))])
def test_windows_in_rows(every_mode, size, stride, rate, padding):
    def fn(x):
        return td.image.extract_patches(x, [1, *size, 1], [1, *stride, 1], [1, *rate, 1], padding)

    (got,) = every_mode(fn, IMAGES)
    extents = [(k - 1) * r + 1 for k, r in zip(size, rate, strict=True)]
    x = IMAGES
    if padding == "SAME":
        missing = [max((-(-n // s) - 1) * s + e - n, 0) for n, s, e in zip((5, 6), stride, extents, strict=True)]
        x = np.pad(x, [(0, 0), *[(m // 2, m - m // 2) for m in missing], (0, 0)])
    counts = [(n - e) // s + 1 for n, e, s in zip(x.shape[1:3], extents, stride, strict=True)]
    assert got.shape == (2, *counts, size[0] * size[1] * 3)
    for i, j in np.ndindex(*counts):
        a, b = i * stride[0], j * stride[1]
        np.testing.assert_array_equal(got[:, i, j], x[:, a : a + extents[0] : rate[0], b : b + extents[1] : rate[1]].reshape(2, -1))
    linear(fn, IMAGES.shape)


def test_windows_over_volumes(every_mode):
    x = rng.random((1, 3, 4, 5, 2))
    (got,) = every_mode(lambda x: td.extract_volume_patches(x, [1, 2, 2, 3, 1], [1, 1, 2, 2, 1], "VALID"), x)
    np.testing.assert_array_equal(got[0, 1, 1, 1], x[0, 1:3, 2:4, 2:5].ravel())
    linear(lambda x: td.extract_volume_patches(x, [1, 2, 2, 3, 1], [1, 1, 2, 2, 1], "SAME"), x.shape)


BOXES = np.array([[0.13, 0.21, 0.81, 0.93], [0.91, 0.11, 0.32, 0.67], [-0.3, 0.23, 0.57, 1.21]], np.float32)
OWNERS = np.array([0, 1, 1], np.int32)


def looked_at(x, boxes, owners, size, method, outside):
    height, width = x.shape[1:3]
    result = np.full((len(boxes), *size, x.shape[3]), outside, np.float64)
    for n, (y1, x1, y2, x2) in enumerate(boxes.astype(np.float64)):
        for i, j in np.ndindex(*size):
            y = (height - 1) * (y1 + i * (y2 - y1) / (size[0] - 1) if size[0] > 1 else (y1 + y2) / 2)
            z = (width - 1) * (x1 + j * (x2 - x1) / (size[1] - 1) if size[1] > 1 else (x1 + x2) / 2)
            if not (0 <= y <= height - 1 and 0 <= z <= width - 1):
                continue
            image = x[owners[n]]
            if method == "nearest":
                result[n, i, j] = image[int(y + 0.5), int(z + 0.5)]
                continue
            a, b = int(y), int(z)
            c, d = min(a + 1, height - 1), min(b + 1, width - 1)
            above = image[a, b] + (image[a, d] - image[a, b]) * (z - b)
            below = image[c, b] + (image[c, d] - image[c, b]) * (z - b)
            result[n, i, j] = above + (below - above) * (y - a)
    return result


@pytest.mark.parametrize("method", ["bilinear", "nearest"])
@pytest.mark.parametrize("size", [(3, 4), (1, 2), (4, 1)])
def test_boxes_resized(every_mode, size, method):
    (got,) = every_mode(lambda x, b, o: td.image.crop_and_resize(x, b, o, size, method, 7.0), IMAGES, BOXES, OWNERS, rank=False)
    np.testing.assert_allclose(got, looked_at(IMAGES, BOXES, OWNERS, size, method, 7.0), atol=1e-5)
    linear(lambda x: td.image.crop_and_resize(x, BOXES, OWNERS, size, method), IMAGES.shape)


def test_the_gradient_of_boxes():
    boxes = td.constant(BOXES[:2])
    weight = rng.random((2, 3, 4, 3)).astype(np.float32)

    def value(boxes):
        return td.reduce_sum(td.image.crop_and_resize(IMAGES, boxes, OWNERS[:2], [3, 4]) * weight)

    with td.GradientTape() as tape:
        tape.watch(boxes)
        y = value(boxes)
    got = np.asarray(tape.gradient(y, boxes))
    for index in np.ndindex(2, 4):
        step = np.zeros((2, 4), np.float32)
        step[index] = 1e-3
        want = (float(value(BOXES[:2] + step)) - float(value(BOXES[:2] - step))) / 2e-3
        np.testing.assert_allclose(got[index], want, rtol=0.05, atol=0.05)


def test_the_size_of_crops_may_be_known_only_when_the_trace_runs():
    traced = td.function(lambda n: td.image.crop_and_resize(IMAGES, BOXES, OWNERS, n), input_signature=[td.TensorSpec([2], "int32")])
    for size in ([3, 4], [1, 2]):
        np.testing.assert_allclose(traced(size), td.image.crop_and_resize(IMAGES, BOXES, OWNERS, size), atol=1e-6)


def test_wrong_boxes_are_refused(refuses):
    def crop(x, boxes, owners):
        return td.image.crop_and_resize(x, boxes, owners, [2, 2])

    refuses(OutOfRangeError, crop, IMAGES, BOXES, OWNERS + 1, match="box_indices")
    refuses(ShapeError, crop, IMAGES, BOXES[:, :3], OWNERS)
    with pytest.raises(ShapeError, match="box_indices"):
        crop(IMAGES, BOXES, OWNERS[:2])
    with pytest.raises(InvalidArgumentError, match="positive"):
        td.image.crop_and_resize(IMAGES, BOXES, OWNERS, [2, 0])


def test_glimpses_around_points(every_mode):
    x = rng.random((2, 6, 6, 1)).astype(np.float32)
    points = np.array([[0.0, 0.0], [1.0, -1.0]], np.float32)
    (got,) = every_mode(lambda x, p: td.image.extract_glimpse(x, [4, 2], p, noise="zero"), x, points, rank=False)
    np.testing.assert_array_equal(got[0], x[0, 1:5, 2:4])
    np.testing.assert_array_equal(got[1], np.pad(x[1, 4:, :1], [(0, 2), (1, 0), (0, 0)]))
    (got,) = every_mode(lambda x, p: td.image.extract_glimpse(x, [2, 2], p, False, False, "zero"), x, points + 2, rank=False)
    np.testing.assert_array_equal(got[1], x[1, 3:5, 1:3])
    for noise in ("uniform", "gaussian"):
        filled = np.asarray(td.image.extract_glimpse(x, [4, 2], points, noise=noise))
        assert x[1].min() <= filled[1].min() <= filled[1].max() <= x[1].max()


# ---------------------------------------------------------------------- suppression


def shares(boxes):
    low, high = np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])
    area = np.prod(high - low, 1)
    both = np.prod(np.maximum(np.minimum(high[:, None], high) - np.maximum(low[:, None], low), 0), -1)
    return both / np.maximum(area[:, None] + area - both, 1e-30)


def chosen(overlap, scores, most, threshold, least):
    kept = []
    for i in sorted(range(len(scores)), key=lambda i: (-scores[i], i)):
        if len(kept) < most and scores[i] > least and all(overlap[i, j] <= threshold for j in kept):
            kept.append(i)
    return kept


@pytest.mark.parametrize(("most", "threshold", "least"), [(30, 0.3, -np.inf), (4, 0.5, -np.inf), (30, 0.1, 0.5), (0, 0.5, 0.0), (30, 1.0, 0.9)])
def test_boxes_that_overlap_a_better_one_go(every_mode, most, threshold, least):
    boxes = rng.random((25, 4)).astype(np.float32)
    scores = np.round(rng.random(25), 1).astype(np.float32)
    (got,) = every_mode(lambda b, s: td.image.non_max_suppression(b, s, most, threshold, least), boxes, scores)
    want = chosen(shares(boxes), scores, most, threshold, np.float32(least))
    assert got.tolist() == want
    (got,) = every_mode(lambda o, s: td.image.non_max_suppression_overlaps(o, s, most, threshold, least), shares(boxes), scores)
    assert got.tolist() == want
    got, number = every_mode(lambda b, s: td.image.non_max_suppression_padded(b, s, most, threshold, least, True), [boxes] * 2, [scores] * 2)
    if threshold < 1:
        assert got.tolist() == [want + [0] * (most - len(want))] * 2
        assert number.tolist() == [len(want)] * 2


def test_scores_may_be_lowered_instead(every_mode):
    boxes = np.array([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 5, 1, 6]], np.float32)
    scores = np.array([0.9, 0.8, 0.7], np.float32)
    indices, found = every_mode(lambda b, s: td.image.non_max_suppression_with_scores(b, s, 3, 0.5, 0.1, 0.5), boxes, scores)
    assert indices.tolist() == [0, 2, 1]
    np.testing.assert_allclose(found, [0.9, 0.7, 0.8 * np.exp(-(shares(boxes)[0, 1] ** 2))], rtol=1e-5)
    indices, found = every_mode(lambda b, s: td.image.non_max_suppression_with_scores(b, s, 3), boxes, scores)
    assert indices.tolist() == [0, 2]
    np.testing.assert_array_equal(found, scores[[0, 2]])


def test_the_best_boxes_of_all_classes(every_mode):
    boxes = rng.random((2, 12, 1, 4)).astype(np.float32) * 1.5 - 0.2
    scores = rng.random((2, 12, 3)).astype(np.float32)

    def fn(b, s):
        return td.image.combined_non_max_suppression(b, s, 4, 40, 0.3, 0.2)

    corners, values, classes, number = every_mode(fn, boxes, scores)
    assert fn(boxes, scores)._fields == ("nmsed_boxes", "nmsed_scores", "nmsed_classes", "valid_detections")
    for i in range(2):
        overlap = shares(boxes[i, :, 0])
        found = [(scores[i, k, c], c, k) for c in range(3) for k in chosen(overlap, scores[i, :, c], 4, 0.3, 0.2)]
        found.sort(key=lambda item: -item[0])
        assert number[i] == len(found)
        for j, (score, c, k) in enumerate(found):
            assert (values[i, j], classes[i, j]) == (score, c)
            np.testing.assert_array_equal(corners[i, j], np.clip(boxes[i, k, 0], 0, 1))
        assert not values[i, len(found) :].any()
    assert td.image.combined_non_max_suppression(boxes, scores, 4, 40, pad_per_class=True).nmsed_boxes.shape == (2, 12, 4)


def test_wrong_suppression_is_refused(refuses):
    boxes, scores = np.ones((3, 4), np.float32), np.ones(3, np.float32)
    refuses(InvalidArgumentError, lambda b, s: td.image.non_max_suppression(b, s, 2, 1.5), boxes, scores, match="iou_threshold")
    refuses(InvalidArgumentError, lambda b, s: td.image.non_max_suppression(b, s, -1), boxes, scores, match="max_output_size")
    refuses(ShapeError, lambda b, s: td.image.non_max_suppression(b, s, 2), boxes, scores[:2], match="scores|boxes")
    refuses(ShapeError, lambda b, s: td.image.non_max_suppression_padded(b, s, 2), [boxes], [scores], match="rank")
    refuses(ShapeError, lambda b, s: td.image.non_max_suppression_overlaps(b, s, 2), boxes, scores, match="square|overlaps")


# ---------------------------------------------------------------------- at random

CHANGES = {
    "brightness": (0.3,),
    "contrast": (0.5, 1.5),
    "hue": (0.2,),
    "saturation": (0.5, 1.5),
    "flip_left_right": (),
    "flip_up_down": (),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_seed_decides_what_happens_to_an_image(every_mode, name):
    function = getattr(td.image, f"stateless_random_{name}")
    for x in (IMAGES, IMAGES[0]):
        results = [every_mode(lambda x, s=s: function(x, *CHANGES[name], seed=(s, 1)), x, rank=False)[0] for s in range(6)]
        assert any((results[0] != r).any() for r in results[1:])
        assert getattr(td.image, f"random_{name}")(x, *CHANGES[name], seed=3).shape == x.shape


def test_each_image_of_a_batch_is_flipped_by_itself():
    batch = np.repeat(IMAGES[:1], 40, 0)
    got = np.asarray(td.image.stateless_random_flip_left_right(batch, (1, 2)))
    flipped = [np.array_equal(g, np.flip(b, 1)) for g, b in zip(got, batch, strict=True)]
    same = [np.array_equal(g, b) for g, b in zip(got, batch, strict=True)]
    assert all(a != b for a, b in zip(flipped, same, strict=True))
    assert 8 < sum(flipped) < 32


def test_crops_at_random_places(every_mode):
    x = np.arange(60).reshape(5, 6, 2)
    starts = set()
    for s in range(20):
        (got,) = every_mode(lambda x, s=s: td.image.stateless_random_crop(x, [2, 3, 2], (s, 0)), x, rank=False)
        a, b = divmod(int(got[0, 0, 0]) // 2, 6)
        np.testing.assert_array_equal(got, x[a : a + 2, b : b + 3])
        starts.add((a, b))
    assert len(starts) > 5
    assert td.image.random_crop(x, [5, 6, 2]).numpy().tolist() == x.tolist()


def test_wrong_random_changes_are_refused(refuses):
    x = IMAGES[0]
    for wrong in (
        lambda x: td.image.random_brightness(x, -0.1),
        lambda x: td.image.stateless_random_hue(x, 0.6, (1, 2)),
        lambda x: td.image.random_contrast(x, 1.5, 0.5),
        lambda x: td.image.stateless_random_saturation(x, -0.5, 0.5, (1, 2)),
        lambda x: td.image.stateless_random_crop(x, [9, 2, 3], (1, 2)),
    ):
        refuses(InvalidArgumentError, wrong, x)
    with pytest.raises(ShapeError, match="size"):
        td.image.random_crop(x, [2, 2])
