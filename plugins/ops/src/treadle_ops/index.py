"""Which module declares what, so that each is imported when something of it is first asked for.

Written by ``make indexes``; a test keeps it fresh.
"""

from __future__ import annotations


OPS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "treadle_ops.activations": (
        ("elu", "elu_grad", "gelu", "gelu_grad", "leaky_relu", "leaky_relu_grad", "relu", "relu6", "relu6_grad", "relu_grad", "selu", "selu_grad", "silu", "silu_grad"),
        ("nn.crelu", "nn.elu", "nn.gelu", "nn.leaky_relu", "nn.relu", "nn.relu6", "nn.selu", "nn.silu", "nn.swish"),
    ),
    "treadle_ops.arg_reductions": (
        ("argmax", "argmin"),
        ("argmax", "argmin", "math.argmax", "math.argmin"),
    ),
    "treadle_ops.assertions": (
        ("assert", "assert_equal", "assert_greater", "assert_greater_equal", "assert_less", "assert_less_equal", "assert_near", "assert_none_equal", "check_numerics"),
        ("Assert", "assert_equal", "assert_greater", "assert_less", "debugging.Assert", "debugging.assert_all_finite", "debugging.assert_equal", "debugging.assert_greater", "debugging.assert_greater_equal", "debugging.assert_less", "debugging.assert_less_equal", "debugging.assert_near", "debugging.assert_negative", "debugging.assert_non_negative", "debugging.assert_non_positive", "debugging.assert_none_equal", "debugging.assert_positive", "debugging.check_numerics"),
    ),
    "treadle_ops.atrous": (
        (),
        ("nn.atrous_conv2d", "nn.atrous_conv2d_transpose", "nn.with_space_to_batch"),
    ),
    "treadle_ops.axis_extremes": (
        ("mean_of_ties", "reduce_max", "reduce_min", "share_among_ties"),
        ("math.reduce_max", "math.reduce_min", "reduce_max", "reduce_min"),
    ),
    "treadle_ops.bessel": (
        ("bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "bessel_j0", "bessel_j1", "bessel_k0", "bessel_k0e", "bessel_k1", "bessel_k1e", "bessel_y0", "bessel_y1", "dawsn", "expint", "fresnel_cos", "fresnel_sin", "spence"),
        ("math.bessel_i0", "math.bessel_i0e", "math.bessel_i1", "math.bessel_i1e", "math.special.bessel_i0", "math.special.bessel_i0e", "math.special.bessel_i1", "math.special.bessel_i1e", "math.special.bessel_j0", "math.special.bessel_j1", "math.special.bessel_k0", "math.special.bessel_k0e", "math.special.bessel_k1", "math.special.bessel_k1e", "math.special.bessel_y0", "math.special.bessel_y1", "math.special.dawsn", "math.special.expint", "math.special.fresnel_cos", "math.special.fresnel_sin", "math.special.spence"),
    ),
    "treadle_ops.bitwise": (
        ("bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift"),
        ("bitwise.bitwise_and", "bitwise.bitwise_or", "bitwise.bitwise_xor", "bitwise.invert", "bitwise.left_shift", "bitwise.right_shift"),
    ),
    "treadle_ops.broadcasting": (
        ("axis_size", "broadcast_to", "shape", "sum_to_shape"),
        (),
    ),
    "treadle_ops.call_batching": (
        (),
        ("nondifferentiable_batch_function",),
    ),
    "treadle_ops.casting": (
        ("bitcast", "cast"),
        ("bitcast", "cast", "dtypes.cast"),
    ),
    "treadle_ops.clipping": (
        ("clip_by_value",),
        ("clip_by_global_norm", "clip_by_norm", "clip_by_value", "linalg.global_norm"),
    ),
    "treadle_ops.comparison": (
        ("equal", "equal_or_false", "greater", "greater_equal", "is_finite", "is_inf", "is_nan", "less", "less_equal", "not_equal", "not_equal_or_true"),
        ("equal", "greater", "greater_equal", "less", "less_equal", "math.equal", "math.greater", "math.greater_equal", "math.is_finite", "math.is_inf", "math.is_nan", "math.less", "math.less_equal", "math.not_equal", "not_equal"),
    ),
    "treadle_ops.complex_numbers": (
        ("angle", "complex", "imag", "real"),
        ("complex", "dtypes.complex", "math.angle", "math.imag", "math.real"),
    ),
    "treadle_ops.convolution": (
        ("conv", "conv_backprop_filter", "conv_backprop_input"),
        ("nn.conv1d", "nn.conv2d", "nn.conv3d", "nn.convolution"),
    ),
    "treadle_ops.coordinates": (
        ("gather_nd", "scatter_nd"),
        ("gather_nd", "scatter_nd"),
    ),
    "treadle_ops.cosine_transforms": (
        ("cosine_scales",),
        ("signal.dct", "signal.idct"),
    ),
    "treadle_ops.counting": (
        ("bincount", "class_count", "confusion_places", "count_nonzero", "known_places", "zero_fraction"),
        ("math.bincount", "math.confusion_matrix", "math.count_nonzero", "math.zero_fraction", "nn.zero_fraction"),
    ),
    "treadle_ops.creation": (
        ("eye", "fill", "ones", "ones_like", "zeros", "zeros_like"),
        ("eye", "fill", "linalg.eye", "ones", "ones_like", "zeros", "zeros_like"),
    ),
    "treadle_ops.cross_entropy": (
        ("softmax_cross_entropy", "softmax_cross_entropy_grad", "sparse_softmax_cross_entropy", "sparse_softmax_cross_entropy_grad"),
        ("nn.softmax_cross_entropy_with_logits", "nn.sparse_softmax_cross_entropy_with_logits"),
    ),
    "treadle_ops.cross_product": (
        ("cross",),
        ("linalg.cross",),
    ),
    "treadle_ops.cumulative": (
        ("cumprod", "cumsum", "cumulative_logsumexp", "linear_recurrence", "shift"),
        ("cumsum", "math.cumprod", "math.cumsum", "math.cumulative_logsumexp"),
    ),
    "treadle_ops.debugging": (
        (),
        ("debugging.disable_traceback_filtering", "debugging.enable_traceback_filtering", "debugging.get_log_device_placement", "debugging.is_traceback_filtering_enabled", "debugging.set_log_device_placement"),
    ),
    "treadle_ops.depthwise": (
        (),
        ("nn.depthwise_conv2d", "nn.depthwise_conv2d_backprop_filter", "nn.depthwise_conv2d_backprop_input", "nn.separable_conv2d"),
    ),
    "treadle_ops.determinants": (
        ("cofactors", "det", "slogdet"),
        ("linalg.det", "linalg.logdet", "linalg.slogdet"),
    ),
    "treadle_ops.diagonals": (
        ("band_part", "diag", "diag_part", "set_diag"),
        ("linalg.band_part", "linalg.diag", "linalg.diag_part", "linalg.set_diag"),
    ),
    "treadle_ops.division": (
        ("divide_integers", "floordiv", "floormod", "truncatediv", "truncatemod"),
        ("divide", "math.divide", "math.floordiv", "math.floormod", "math.mod", "math.truediv", "truediv", "truncatediv", "truncatemod"),
    ),
    "treadle_ops.dropout": (
        ("keep_scaled",),
        ("nn.dropout", "nn.experimental.stateless_dropout"),
    ),
    "treadle_ops.eigenvalues": (
        ("eig", "eigh", "eigh_tridiagonal", "eigvals", "eigvalsh", "eigvalsh_tridiagonal"),
        ("eig", "eigvals", "linalg.eig", "linalg.eigh", "linalg.eigh_tridiagonal", "linalg.eigvals", "linalg.eigvalsh"),
    ),
    "treadle_ops.einsum": (
        ("einsum",),
        ("einsum", "linalg.einsum", "linalg.tensordot", "tensordot"),
    ),
    "treadle_ops.elementwise": (
        ("add", "conj", "divide", "exp", "expm1", "log", "log1p", "multiply", "negative", "reciprocal", "slope_product", "square", "squared_difference", "subtract", "tanh", "tanh_grad"),
        ("add", "exp", "math.add", "math.conj", "math.exp", "math.expm1", "math.log", "math.log1p", "math.multiply", "math.negative", "math.reciprocal", "math.square", "math.squared_difference", "math.subtract", "math.tanh", "multiply", "negative", "nn.tanh", "realdiv", "square", "subtract", "tanh"),
    ),
    "treadle_ops.embeddings": (
        (),
        ("nn.embedding_lookup",),
    ),
    "treadle_ops.equal_sizes": (
        ("equal_sizes",),
        (),
    ),
    "treadle_ops.execution_modes": (
        (),
        ("experimental.async_clear_error", "experimental.async_scope", "experimental.enable_strict_mode", "experimental.function_executor_type"),
    ),
    "treadle_ops.extremes": (
        ("maximum", "minimum"),
        ("math.maximum", "math.minimum", "maximum", "minimum"),
    ),
    "treadle_ops.factorizations": (
        ("inverse_orders", "lu", "qr", "wide_matrices"),
        ("linalg.lu", "linalg.lu_matrix_inverse", "linalg.lu_reconstruct", "linalg.lu_solve", "linalg.qr"),
    ),
    "treadle_ops.flow": (
        ("identity", "stop_gradient"),
        ("identity", "identity_n", "stop_gradient"),
    ),
    "treadle_ops.forward_mode": (
        (),
        ("autodiff.ForwardAccumulator",),
    ),
    "treadle_ops.fourier": (
        ("fft", "fit_axes", "irfft", "rfft", "spectrum_weights"),
        (),
    ),
    "treadle_ops.fourier_functions": (
        (),
        ("fftnd", "ifftnd", "irfftnd", "rfftnd", "signal.fft", "signal.fft2d", "signal.fft3d", "signal.fftnd", "signal.fftshift", "signal.ifft", "signal.ifft2d", "signal.ifft3d", "signal.ifftnd", "signal.ifftshift", "signal.irfft", "signal.irfft2d", "signal.irfft3d", "signal.irfftnd", "signal.rfft", "signal.rfft2d", "signal.rfft3d", "signal.rfftnd"),
    ),
    "treadle_ops.framing": (
        ("frame", "frame_grad", "overlap_and_add"),
        ("signal.frame", "signal.overlap_and_add"),
    ),
    "treadle_ops.functional_loops": (
        (),
        ("foldl", "foldr", "map_fn", "scan"),
    ),
    "treadle_ops.gathering": (
        ("gather", "gather_grad"),
        ("gather",),
    ),
    "treadle_ops.gradient_registration": (
        (),
        ("RegisterGradient", "no_gradient"),
    ),
    "treadle_ops.graph_gradients": (
        (),
        ("AggregationMethod", "gradients", "hessians"),
    ),
    "treadle_ops.graph_variables": (
        (),
        ("compat.v1.assign", "compat.v1.assign_add", "compat.v1.assign_sub", "compat.v1.get_variable"),
    ),
    "treadle_ops.grids": (
        ("unravel_index",),
        ("meshgrid", "unravel_index"),
    ),
    "treadle_ops.image_batches": (
        ("image_batch", "without_batch"),
        (),
    ),
    "treadle_ops.image_colors": (
        (),
        ("image.adjust_brightness", "image.adjust_contrast", "image.adjust_gamma", "image.adjust_hue", "image.adjust_saturation", "image.grayscale_to_rgb", "image.hsv_to_rgb", "image.rgb_to_grayscale", "image.rgb_to_hsv", "image.rgb_to_yiq", "image.rgb_to_yuv", "image.yiq_to_rgb", "image.yuv_to_rgb"),
    ),
    "treadle_ops.image_filters": (
        (),
        ("image.image_gradients", "image.per_image_standardization", "image.sobel_edges", "image.total_variation"),
    ),
    "treadle_ops.image_geometry": (
        (),
        ("image.central_crop", "image.flip_left_right", "image.flip_up_down", "image.resize_with_crop_or_pad", "image.rot90", "image.transpose"),
    ),
    "treadle_ops.image_patches": (
        ("box_batches", "extract_glimpse", "extract_patches", "extract_patches_grad"),
        ("extract_volume_patches", "image.crop_and_resize", "image.extract_glimpse", "image.extract_patches"),
    ),
    "treadle_ops.indexed_slices": (
        (),
        ("IndexedSlices", "IndexedSlicesSpec"),
    ),
    "treadle_ops.indexing": (
        (),
        ("newaxis",),
    ),
    "treadle_ops.initializers": (
        (),
        ("constant_initializer", "ones_initializer", "zeros_initializer"),
    ),
    "treadle_ops.joining": (
        ("concat", "split", "split_evenly", "stack", "unstack"),
        ("concat", "parallel_stack", "split", "stack", "unstack"),
    ),
    "treadle_ops.linear_systems": (
        ("cholesky", "inv", "lstsq", "solve", "triangular_solve"),
        ("linalg.banded_triangular_solve", "linalg.cholesky", "linalg.cholesky_solve", "linalg.inv", "linalg.lstsq", "linalg.matvec", "linalg.solve", "linalg.triangular_solve"),
    ),
    "treadle_ops.logic": (
        ("logical_and", "logical_not", "logical_or", "logical_xor"),
        ("logical_and", "logical_not", "logical_or", "math.logical_and", "math.logical_not", "math.logical_or", "math.logical_xor"),
    ),
    "treadle_ops.losses": (
        ("l2_loss", "sigmoid_cross_entropy", "sigmoid_cross_entropy_grad"),
        ("nn.compute_average_loss", "nn.l2_loss", "nn.log_poisson_loss", "nn.scale_regularization_loss", "nn.sigmoid_cross_entropy_with_logits", "nn.weighted_cross_entropy_with_logits"),
    ),
    "treadle_ops.masking": (
        ("boolean_mask", "boolean_mask_grad", "nonzero", "sequence_mask", "where"),
        ("boolean_mask", "sequence_mask", "where"),
    ),
    "treadle_ops.matrix_functions": (
        ("expm", "logm", "sqrtm"),
        ("linalg.expm", "linalg.logm", "linalg.sqrtm", "matrix_square_root"),
    ),
    "treadle_ops.matrix_transposes": (
        ("matrix_transpose",),
        ("linalg.adjoint", "linalg.matrix_transpose"),
    ),
    "treadle_ops.moments": (
        ("moments",),
        ("nn.moments", "nn.normalize_moments", "nn.sufficient_statistics", "nn.weighted_moments"),
    ),
    "treadle_ops.morphology": (
        ("dilation2d", "dilation2d_backprop_filter", "dilation2d_backprop_input", "dilation2d_pick_filter", "dilation2d_pick_input"),
        ("nn.dilation2d", "nn.erosion2d"),
    ),
    "treadle_ops.normalization": (
        ("bias_add", "channel_window_sum", "standardize"),
        ("linalg.l2_normalize", "math.l2_normalize", "nn.batch_norm_with_global_normalization", "nn.batch_normalization", "nn.bias_add", "nn.l2_normalize", "nn.local_response_normalization", "nn.lrn"),
    ),
    "treadle_ops.norms": (
        ("euclidean_norm",),
        ("linalg.norm", "linalg.normalize", "norm"),
    ),
    "treadle_ops.numerics_checks": (
        ("guard_numerics",),
        ("debugging.disable_check_numerics", "debugging.enable_check_numerics"),
    ),
    "treadle_ops.one_hot": (
        ("one_hot",),
        ("one_hot",),
    ),
    "treadle_ops.optimizer_options": (
        (),
        ("config.optimizer.get_experimental_options", "config.optimizer.get_jit", "config.optimizer.set_experimental_options", "config.optimizer.set_jit"),
    ),
    "treadle_ops.padding": (
        ("crop", "mirror_fold", "mirror_pad", "pad", "pad_with"),
        ("pad",),
    ),
    "treadle_ops.partitioning": (
        ("dynamic_partition", "dynamic_partition_grad", "dynamic_stitch"),
        ("dynamic_partition", "dynamic_stitch"),
    ),
    "treadle_ops.permutations": (
        ("invert_permutation",),
        ("math.invert_permutation",),
    ),
    "treadle_ops.pooling": (
        ("avg_pool", "avg_pool_grad", "max_pool", "max_pool_grad", "max_pool_pick", "max_pool_with_argmax"),
        (),
    ),
    "treadle_ops.pooling_functions": (
        (),
        ("nn.avg_pool", "nn.avg_pool1d", "nn.avg_pool2d", "nn.avg_pool3d", "nn.max_pool", "nn.max_pool1d", "nn.max_pool2d", "nn.max_pool3d", "nn.max_pool_with_argmax", "nn.pool"),
    ),
    "treadle_ops.powers": (
        ("pow", "rsqrt", "sqrt"),
        ("math.pow", "math.rsqrt", "math.sqrt", "pow", "sqrt"),
    ),
    "treadle_ops.printing": (
        ("print",),
        ("print",),
    ),
    "treadle_ops.products": (
        ("matmul",),
        ("linalg.matmul", "matmul"),
    ),
    "treadle_ops.program_order": (
        (),
        ("control_dependencies", "group", "no_op", "tuple"),
    ),
    "treadle_ops.python_calls": (
        ("numpy_function", "py_function", "py_function_gradient"),
        ("numpy_function", "py_function"),
    ),
    "treadle_ops.random_arguments": (
        (),
        ("random.Algorithm", "random.experimental.Algorithm"),
    ),
    "treadle_ops.random_generator": (
        (),
        ("random.Generator", "random.create_rng_state", "random.experimental.Generator", "random.experimental.create_rng_state", "random.experimental.get_global_generator", "random.experimental.set_global_generator", "random.get_global_generator", "random.set_global_generator"),
    ),
    "treadle_ops.random_images": (
        (),
        ("image.random_brightness", "image.random_contrast", "image.random_crop", "image.random_flip_left_right", "image.random_flip_up_down", "image.random_hue", "image.random_saturation", "image.stateless_random_brightness", "image.stateless_random_contrast", "image.stateless_random_crop", "image.stateless_random_flip_left_right", "image.stateless_random_flip_up_down", "image.stateless_random_hue", "image.stateless_random_saturation"),
    ),
    "treadle_ops.random_initializers": (
        (),
        ("random_normal_initializer", "random_uniform_initializer"),
    ),
    "treadle_ops.randomness": (
        ("generator_key", "generator_skip", "random_key", "stateless_binomial", "stateless_categorical", "stateless_gamma", "stateless_normal", "stateless_parameterized_truncated_normal", "stateless_poisson", "stateless_shuffle", "stateless_truncated_normal", "stateless_uniform", "stateless_uniform_bits", "stateless_uniform_integers"),
        (),
    ),
    "treadle_ops.ranges": (
        ("linspace", "range"),
        ("linspace", "range"),
    ),
    "treadle_ops.raw_convolution": (
        (),
        ("conv", "conv2d_backprop_filter_v2", "conv2d_backprop_input_v2"),
    ),
    "treadle_ops.recomputation": (
        (),
        ("recompute_grad",),
    ),
    "treadle_ops.reductions": (
        ("kept_shape", "reduce_all", "reduce_any", "reduce_mean", "reduce_prod", "reduce_sum", "reduced_count"),
        ("math.reduce_all", "math.reduce_any", "math.reduce_mean", "math.reduce_prod", "math.reduce_sum", "reduce_all", "reduce_any", "reduce_mean", "reduce_prod", "reduce_sum"),
    ),
    "treadle_ops.reordering": (
        ("reverse", "reverse_sequence", "roll"),
        ("reverse", "reverse_sequence", "roll"),
    ),
    "treadle_ops.required_rows": (
        ("required_rows",),
        (),
    ),
    "treadle_ops.resizing": (
        ("resize", "resize_grad"),
        ("image.ResizeMethod", "image.resize", "image.resize_with_pad"),
    ),
    "treadle_ops.rounding": (
        ("ceil", "floor", "nextafter", "rint", "round"),
        ("floor", "math.ceil", "math.floor", "math.nextafter", "math.rint", "math.round", "round"),
    ),
    "treadle_ops.run_time_axes": (
        ("axes_of_rows", "reduced_shape", "rows_of_axes"),
        (),
    ),
    "treadle_ops.run_time_order": (
        ("axis_from_back", "axis_from_front", "axis_to_back", "axis_to_front", "transpose_back", "transpose_by"),
        (),
    ),
    "treadle_ops.saturation": (
        (),
        ("dtypes.saturate_cast", "saturate_cast"),
    ),
    "treadle_ops.scattering": (
        ("tensor_scatter_nd_add", "tensor_scatter_nd_max", "tensor_scatter_nd_min", "tensor_scatter_nd_sub", "tensor_scatter_nd_update"),
        ("tensor_scatter_nd_add", "tensor_scatter_nd_max", "tensor_scatter_nd_min", "tensor_scatter_nd_sub", "tensor_scatter_nd_update"),
    ),
    "treadle_ops.segments": (
        ("continues_segment", "flatten_leading", "mean_of_segment_ties", "segment_max", "segment_mean", "segment_min", "segment_prod", "segment_sizes", "segment_sum", "share_among_segment_ties", "take_segments", "unsorted_segment_max", "unsorted_segment_min", "unsorted_segment_prod", "unsorted_segment_sum"),
        ("math.segment_max", "math.segment_mean", "math.segment_min", "math.segment_prod", "math.segment_sum", "math.unsorted_segment_max", "math.unsorted_segment_mean", "math.unsorted_segment_min", "math.unsorted_segment_prod", "math.unsorted_segment_sqrt_n", "math.unsorted_segment_sum"),
    ),
    "treadle_ops.shape_assertions": (
        ("assert_rank", "assert_shapes"),
        ("assert_rank", "debugging.assert_integer", "debugging.assert_proper_iterable", "debugging.assert_rank", "debugging.assert_rank_at_least", "debugging.assert_rank_in", "debugging.assert_same_float_dtype", "debugging.assert_scalar", "debugging.assert_shapes", "debugging.assert_type", "debugging.is_numeric_tensor"),
    ),
    "treadle_ops.shaping": (
        ("ensure_shape", "expand_dims", "reshape", "squeeze", "transpose"),
        ("broadcast_to", "ensure_shape", "expand_dims", "reshape", "shape", "squeeze", "transpose"),
    ),
    "treadle_ops.sigmoids": (
        ("sigmoid", "sigmoid_grad", "softplus", "softsign"),
        ("math.log_sigmoid", "math.sigmoid", "math.softplus", "math.softsign", "nn.sigmoid", "nn.softplus", "nn.softsign", "sigmoid"),
    ),
    "treadle_ops.signal_windows": (
        ("raised_cosine_window", "window_positions"),
        ("signal.hamming_window", "signal.hann_window", "signal.kaiser_window"),
    ),
    "treadle_ops.signs": (
        ("abs", "sign"),
        ("abs", "math.abs", "math.sign", "sign"),
    ),
    "treadle_ops.singular_values": (
        ("pinv", "singular_values", "svd"),
        ("linalg.matrix_rank", "linalg.pinv", "linalg.svd"),
    ),
    "treadle_ops.sizes": (
        ("broadcast_dynamic_shape", "rank", "size"),
        ("broadcast_dynamic_shape", "broadcast_static_shape", "rank", "size"),
    ),
    "treadle_ops.slicing": (
        ("dynamic_strided_slice", "slice", "slice_grad", "strided_slice", "strided_slice_grad", "tensor_strided_slice_update"),
        ("slice", "strided_slice"),
    ),
    "treadle_ops.softmax": (
        ("log_softmax", "log_softmax_grad", "softmax", "softmax_grad"),
        ("math.log_softmax", "math.softmax", "nn.log_softmax", "nn.softmax"),
    ),
    "treadle_ops.sorting": (
        ("argsort", "in_top_k", "is_non_decreasing", "is_strictly_increasing", "searchsorted", "sort", "top_k"),
        ("argsort", "math.in_top_k", "math.is_non_decreasing", "math.is_strictly_increasing", "math.top_k", "nn.in_top_k", "nn.top_k", "searchsorted", "sort"),
    ),
    "treadle_ops.space_batch": (
        ("batch_to_space", "depth_to_space", "space_to_batch_nd", "space_to_depth"),
        ("batch_to_space", "nn.depth_to_space", "nn.space_to_batch", "nn.space_to_depth", "space_to_batch", "space_to_batch_nd"),
    ),
    "treadle_ops.special": (
        ("betainc", "digamma", "erf", "erfc", "erfinv", "igamma", "igamma_derivative", "igammac", "lgamma", "ndtri", "polygamma", "zeta"),
        ("math.betainc", "math.digamma", "math.erf", "math.erfc", "math.erfcinv", "math.erfinv", "math.igamma", "math.igammac", "math.lbeta", "math.lgamma", "math.ndtri", "math.polygamma", "math.zeta"),
    ),
    "treadle_ops.spectrograms": (
        ("mel_weights",),
        ("signal.inverse_stft", "signal.inverse_stft_window_fn", "signal.linear_to_mel_weight_matrix", "signal.stft"),
    ),
    "treadle_ops.stateful_random": (
        (),
        ("random.categorical", "random.gamma", "random.normal", "random.poisson", "random.set_seed", "random.shuffle", "random.truncated_normal", "random.uniform"),
    ),
    "treadle_ops.stateless_random": (
        (),
        ("random.experimental.stateless_fold_in", "random.experimental.stateless_shuffle", "random.experimental.stateless_split", "random.fold_in", "random.split", "random.stateless_binomial", "random.stateless_categorical", "random.stateless_gamma", "random.stateless_normal", "random.stateless_parameterized_truncated_normal", "random.stateless_poisson", "random.stateless_truncated_normal", "random.stateless_uniform"),
    ),
    "treadle_ops.statistics": (
        ("exp_of_difference", "reduce_euclidean_norm", "reduce_logsumexp", "reduce_variance"),
        ("math.reduce_euclidean_norm", "math.reduce_logsumexp", "math.reduce_std", "math.reduce_variance", "reduce_logsumexp"),
    ),
    "treadle_ops.sums": (
        ("add_n",),
        ("add_n", "math.accumulate_n", "math.add_n", "math.polyval", "math.scalar_mul", "scalar_mul"),
    ),
    "treadle_ops.suppression": (
        ("combined_non_max_suppression", "non_max_suppression", "non_max_suppression_overlaps"),
        ("image.combined_non_max_suppression", "image.non_max_suppression", "image.non_max_suppression_overlaps", "image.non_max_suppression_padded", "image.non_max_suppression_with_scores"),
    ),
    "treadle_ops.tensor_array": (
        (),
        ("TensorArray",),
    ),
    "treadle_ops.tensor_array_spec": (
        (),
        ("TensorArraySpec",),
    ),
    "treadle_ops.tensor_diagonals": (
        (),
        ("linalg.tensor_diag", "linalg.tensor_diag_part", "linalg.trace"),
    ),
    "treadle_ops.tensor_lists": (
        ("tensor_list_add", "tensor_list_clear", "tensor_list_concat", "tensor_list_fill", "tensor_list_from_tensor", "tensor_list_gather", "tensor_list_get_item", "tensor_list_length", "tensor_list_reserve", "tensor_list_scatter", "tensor_list_set_item", "tensor_list_split", "tensor_list_stack"),
        (),
    ),
    "treadle_ops.tiling": (
        ("repeat", "sum_repeats", "sum_tiles", "tile"),
        ("repeat", "tile"),
    ),
    "treadle_ops.transposed_convolution": (
        (),
        ("nn.conv1d_transpose", "nn.conv2d_transpose", "nn.conv3d_transpose", "nn.conv_transpose"),
    ),
    "treadle_ops.tridiagonal": (
        ("tridiagonal_solve",),
        ("linalg.tridiagonal_matmul", "linalg.tridiagonal_solve"),
    ),
    "treadle_ops.trigonometry": (
        ("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cos", "cosh", "sin", "sinh", "tan"),
        ("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cos", "cosh", "math.acos", "math.acosh", "math.asin", "math.asinh", "math.atan", "math.atan2", "math.atanh", "math.cos", "math.cosh", "math.sin", "math.sinh", "math.tan", "sin", "sinh", "tan"),
    ),
    "treadle_ops.type_dispatch": (
        (),
        ("experimental.dispatch_for_api", "experimental.dispatch_for_binary_elementwise_apis", "experimental.dispatch_for_binary_elementwise_assert_apis", "experimental.dispatch_for_unary_elementwise_apis", "experimental.unregister_dispatch_for"),
    ),
    "treadle_ops.uniqueness": (
        ("unique", "unique_with_counts"),
        ("unique", "unique_with_counts"),
    ),
    "treadle_ops.vectorization": (
        (),
        ("vectorized_map",),
    ),
    "treadle_ops.zero_safe": (
        ("divide_no_nan", "multiply_no_nan", "xdivy", "xlog1py", "xlogy"),
        ("math.divide_no_nan", "math.multiply_no_nan", "math.reciprocal_no_nan", "math.xdivy", "math.xlog1py", "math.xlogy"),
    ),
}
"""Module to the names of its ops and its public names."""

KERNELS: dict[str, tuple[str, ...]] = {
    "treadle_ops.host_kernels.assertions": (
        "assert",
        "assert_equal",
        "assert_greater",
        "assert_greater_equal",
        "assert_less",
        "assert_less_equal",
        "assert_near",
        "assert_none_equal",
        "assert_rank",
        "assert_shapes",
        "check_numerics",
    ),
    "treadle_ops.host_kernels.numerics_checks": (
        "guard_numerics",
    ),
    "treadle_ops.host_kernels.printing": (
        "print",
    ),
    "treadle_ops.host_kernels.python_calls": (
        "numpy_function",
        "py_function",
        "py_function_gradient",
    ),
    "treadle_ops.host_kernels.random_keys": (
        "random_key",
    ),
}
"""Module to the names of the ops that it has kernels for."""
