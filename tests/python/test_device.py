# SPDX-License-Identifier: LGPL-2.1-or-later
"""Arrays in device memory, on an NVIDIA GPU or on the simulated driver."""
import ctypes
import gc
import os
import subprocess
import sys

import cudaccl
import cudaccl.sam2
import device_arrays
import numpy as np
import pytest
from device_arrays import LAYOUTS, DLPackArray, ExchangeArray, InterfaceArray

if not device_arrays.driver:
    pytest.skip("no CUDA driver here", allow_module_level=True)
try:
    cudaccl.Labeller((2, 2), device="cuda")
except RuntimeError as reason:
    pytest.skip(str(reason), allow_module_level=True)

random = np.random.default_rng(1)
MASK = (random.random((33, 70)) < 0.4).astype(np.uint8)
VOLUME = (random.random((7, 9, 40)) < 0.2).astype(np.uint8)
SIMULATED = "simcuda" in os.environ.get("LD_LIBRARY_PATH", "")


@pytest.mark.parametrize("kind", [InterfaceArray, DLPackArray, ExchangeArray])
@pytest.mark.parametrize("pitched", [False, True, *LAYOUTS])
@pytest.mark.parametrize("dtype", [np.uint8, bool])
@pytest.mark.parametrize("image, connectivity", [(MASK, 4), (MASK, 8), (VOLUME, 6), (VOLUME, 18), (VOLUME, 26)])
def test_same_as_on_the_cpu(image, connectivity, dtype, pitched, kind):
    expected, rows = cudaccl.label(image, connectivity)
    array = kind(image.astype(dtype), pitched)
    labels, table = cudaccl.label(array, connectivity)
    assert isinstance(labels, cudaccl.DeviceArray) and (cudaccl.copy_to_host(labels) == expected).all()
    assert (table == rows).all()
    assert (cudaccl.components(array, connectivity) == rows).all()


MASKS = (random.random((3, 40, 150)) < 0.55).astype(np.uint8)


@pytest.mark.parametrize("kind", [InterfaceArray, DLPackArray, ExchangeArray])
@pytest.mark.parametrize("pitched", [False, True, *LAYOUTS])
@pytest.mark.parametrize("connectivity", [4, 8])
def test_batches(kind, pitched, connectivity):
    for masks in MASKS, MASKS[:, np.newaxis].astype(bool), MASKS[0]:
        labels, table, offsets = cudaccl.label_batch(kind(masks, pitched), connectivity)
        expected, rows, starts = cudaccl.label_batch(masks, connectivity)
        assert (cudaccl.copy_to_host(labels) == expected).all() and (table == rows).all() and (offsets == starts).all()
        found, wanted = kind(masks, pitched), masks.copy()
        assert cudaccl.fill_holes(found, 5, connectivity, value=1) is found
        assert (found.download() == cudaccl.fill_holes(wanted, 5, connectivity)).all()
        assert cudaccl.remove_small(found, 7, connectivity) is found
        assert (found.download() == cudaccl.remove_small(wanted, 7, connectivity)).all()


VALUES = random.integers(0, 4, (6, 35, 70))


@pytest.mark.parametrize("kind", [InterfaceArray, DLPackArray, ExchangeArray])
@pytest.mark.parametrize("pitched", [False, True, device_arrays.transposed])
@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int16, np.uint32, np.int64, np.float32, np.float64])
def test_many_values(kind, pitched, dtype):
    volume = VALUES.astype(dtype)
    for image, connectivity in (volume[0], 4), (volume[0], 8), (volume, 6), (volume, 18), (volume, 26):
        for background in 0, None:
            expected, n = cudaccl.label_values(image, connectivity, background=background)
            labels, found = cudaccl.label_values(kind(image, pitched), connectivity, background=background)
            assert isinstance(labels, cudaccl.DeviceArray) and labels.dtype == "int32"
            assert found == n and (cudaccl.copy_to_host(labels) == expected).all()


def test_many_values_in_given_arrays():
    image = VALUES[0].astype(np.uint16)
    expected, n = cudaccl.label_values(image)
    for kind in InterfaceArray, DLPackArray, ExchangeArray:
        out = kind(np.full(image.shape, 9, np.uint32), pitched=True)
        assert cudaccl.label_values(kind(image), out=out) == (out, n) and (out.download() == expected).all()
    assert cudaccl.label_values(InterfaceArray(np.zeros((0, 5), np.uint8)))[1] == 0
    for wrong in np.zeros(image.shape, np.int32), InterfaceArray(np.zeros((2, 3), np.int32)):
        with pytest.raises(ValueError):
            cudaccl.label_values(InterfaceArray(image), out=wrong)
    with pytest.raises(ValueError, match="2 dimensions"):
        cudaccl.label_values(InterfaceArray(VALUES))


def test_many_values_of_16_bits_are_widened_by_their_own_library():
    """0.0 equals -0.0, and what is not a number is background."""
    image = np.array([[1, 1, np.nan, np.nan], [0.0, -0.0, 2, 2]], np.float16)

    class Wide(InterfaceArray):
        def astype(self, dtype):
            return InterfaceArray(image.astype(dtype))

    labels, n = cudaccl.label_values(Wide(image), background=None)
    assert n == 3 and (cudaccl.copy_to_host(labels) == [[1, 1, 0, 0], [2, 2, 3, 3]]).all()
    labels, n = cudaccl.label_values(InterfaceArray(image.astype(np.float64)))
    assert n == 2 and (cudaccl.copy_to_host(labels) == [[1, 1, 0, 0], [0, 0, 2, 2]]).all()
    masked = np.ma.masked_invalid(image)
    assert cudaccl.label_values(masked, background=None, device="cuda")[1] == 3
    with pytest.raises(ValueError, match="background"):
        cudaccl.label_values(np.ma.masked_equal(np.arange(3)[None], 1), background=None, device="cuda")
    with pytest.raises(TypeError, match="32 or 64 bits"):
        cudaccl.label_values(InterfaceArray(image))


def test_batches_for_sam2():
    masks = MASKS[:, np.newaxis]
    for found, expected in zip(cudaccl.sam2.get_connected_componnets(InterfaceArray(masks)),
                               cudaccl.sam2.get_connected_componnets(masks)):
        assert (cudaccl.copy_to_host(found) == expected).all()


def test_batches_that_cannot_be_used():
    for call, error in ((lambda: cudaccl.fill_holes(InterfaceArray(MASKS)), TypeError),  # it has no max()
                        (lambda: cudaccl.fill_holes(InterfaceArray(MASKS), value=0), ValueError),
                        (lambda: cudaccl.fill_holes(InterfaceArray(MASKS.astype(np.int32)), value=1), TypeError),
                        (lambda: cudaccl.fill_holes(ExchangeArray(MASKS, read_only=True), value=1), ValueError),
                        (lambda: cudaccl.remove_small(InterfaceArray(MASKS[0, 0]), 3), ValueError),
                        (lambda: cudaccl.label_batch(InterfaceArray(MASKS), 6), ValueError)):
        with pytest.raises(error):
            call()
    assert len(cudaccl.label_batch(InterfaceArray(np.zeros((0, 4, 5), np.uint8)))[1]) == 0
    floats = InterfaceArray(MASKS.astype(np.float32))
    assert (cudaccl.label_batch(floats, threshold=0.5)[1] == cudaccl.label_batch(MASKS)[1]).all()


def test_settings():
    image = random.integers(0, 256, (40, 50), np.uint8)
    for settings in ({"threshold": 127}, {"threshold": 127, "invert": True}, {"min_area": 3}, {"max_area": 9}):
        expected, rows = cudaccl.label(image, **settings)
        labels, table = cudaccl.label(InterfaceArray(image), **settings)
        assert (cudaccl.copy_to_host(labels) == expected).all() and (table == rows).all()


def test_tiles():
    expected, rows = cudaccl.label(MASK)
    labels = np.empty(MASK.shape, np.uint32)
    assert cudaccl.label_file(MASK, labels, device="cuda", tile=5) == len(rows)
    assert (labels == expected).all()


def test_output_array():
    expected, _ = cudaccl.label(MASK)
    for kind in InterfaceArray, DLPackArray, ExchangeArray:
        out = kind(np.full(MASK.shape, 9, np.int32), pitched=True)
        labels, _ = cudaccl.label(InterfaceArray(MASK), out=out)
        assert labels is out and (out.download() == expected).all()


def test_array_of_another_type_is_compared_by_its_own_library():
    image = random.integers(-4, 4, (20, 30), np.int16)
    labels, table = cudaccl.label(InterfaceArray(image), threshold=-1)
    expected, rows = cudaccl.label(image, threshold=-1)
    assert (cudaccl.copy_to_host(labels) == expected).all() and (table == rows).all()
    assert (cudaccl.components(InterfaceArray(image), threshold=-1) == rows).all()
    real = random.random((20, 30)).astype(np.float32)
    assert (cudaccl.components(InterfaceArray(real), threshold=0.3) == cudaccl.components(real > np.float32(0.3))).all()
    for unknown in image, real:
        with pytest.raises(TypeError, match="uint8, uint16 or bool"):
            cudaccl.label(DLPackArray(unknown))


@pytest.mark.parametrize("kind", [InterfaceArray, DLPackArray, ExchangeArray])
@pytest.mark.parametrize("pitched", [False, True, *LAYOUTS])
def test_images_of_16_bits(kind, pitched):
    """They are read as they are: their libraries need not compare them."""
    image = random.integers(0, 65536, (33, 70), np.uint16)
    image[::3] //= 256
    labeller = cudaccl.Labeller(image.shape, device="cuda")
    for threshold in (0, 255, 256, 40000.5, 65535):
        expected, rows = cudaccl.label(image > threshold)
        labels, table = labeller.label(kind(image, pitched), threshold=threshold)
        assert (cudaccl.copy_to_host(labels) == expected).all() and (table == rows).all()
        labels, table = labeller.label(image, threshold=threshold)  # in host memory
        assert (cudaccl.copy_to_host(labels) == expected).all() and (table == rows).all()
        assert (labeller.components(kind(MASK, pitched)) == cudaccl.components(MASK)).all()


def test_images_of_16_bits_that_are_compared_by_their_own_library():
    image = random.integers(0, 9, (20, 30), np.uint16)
    shifted = InterfaceArray(image)
    shifted.fields = {"data": (shifted.address.value + 1, False)}
    for array, threshold in (InterfaceArray(image), -1), (InterfaceArray(image), 70000), (shifted, 4):
        assert (cudaccl.components(array, threshold=threshold) == cudaccl.components(image > threshold)).all()
    with pytest.raises(TypeError, match="uint8, uint16 or bool"):
        cudaccl.label(DLPackArray(image), threshold=-1)


def test_dlpack_is_asked_for_the_stream():
    array = DLPackArray(MASK)
    cudaccl.components(array)
    stream = device_arrays.new_stream()
    cudaccl.components(array, stream=stream)
    assert array.streams == [1, stream]
    gc.collect()
    assert device_arrays.n_exported() == 0


def test_arrays_of_the_c_exchange_api():
    """The current stream is that of the array's GPU, unless one is named; each array is released."""
    rows = cudaccl.components(MASK)
    ExchangeArray.asked.clear()
    assert (cudaccl.components(ExchangeArray(MASK)) == rows).all()
    n_asked = len(ExchangeArray.asked)
    assert set(ExchangeArray.asked) == {(2, 0)}
    assert (cudaccl.components(ExchangeArray(MASK), stream=device_arrays.new_stream()) == rows).all()
    assert len(ExchangeArray.asked) == n_asked
    with pytest.raises(ValueError, match="read-only"):
        cudaccl.label(ExchangeArray(MASK), out=ExchangeArray(MASK.astype(np.int32), read_only=True))
    with pytest.raises(ValueError, match="neither"):
        cudaccl.label(ExchangeArray(MASK, device_type=10))
    with pytest.raises(TypeError, match="uint8, uint16 or bool"):
        cudaccl.label(ExchangeArray(MASK.astype(np.float32)))
    gc.collect()
    assert device_arrays.n_exported() == 0


def test_work_waits_for_the_callers_stream(monkeypatch):
    """The image is uploaded on a stream that nothing else waits for."""
    stream = device_arrays.new_stream()
    expected, rows = cudaccl.label(MASK)

    class Stream:
        ptr = stream

    monkeypatch.setattr(ExchangeArray, "current", stream)
    for kind, arguments in ((InterfaceArray, {"stream": stream}), (InterfaceArray, {"stream": Stream()}),
                            (InterfaceArray, {}), (ExchangeArray, {})):
        array = kind(np.zeros_like(MASK), **({"stream": stream} if kind is InterfaceArray else {}))
        array.host[:] = MASK
        array.upload(stream)
        labels, table = cudaccl.label(array, **arguments)
        assert (table == rows).all() and (cudaccl.copy_to_host(labels) == expected).all()


def test_image_in_host_memory():
    labeller = cudaccl.Labeller(MASK.shape, device="cuda")
    assert "cuda:0" in repr(labeller)
    expected, rows = cudaccl.label(MASK)
    labels, table = labeller.label(MASK)
    assert (cudaccl.copy_to_host(labels) == expected).all() and (table == rows).all()
    assert (labeller.components(MASK) == rows).all()


def test_work_waits_for_the_stream_of_the_values():
    """Labels and values are uploaded on streams that nothing else waits for."""
    labels, values = cudaccl.label(MASK)[0], random.integers(0, 256, MASK.shape).astype(np.uint8)
    names = ["intensity_mean", "intensity_median"]
    expected = cudaccl.regionprops_table(labels, names, values)
    for _ in range(3):
        streams = [device_arrays.new_stream() for _ in range(2)]
        arrays = [InterfaceArray(np.zeros_like(array), stream=stream) for array, stream in zip((labels, values), streams)]
        for array, content, stream in zip(arrays, (labels, values), streams):
            array.host[:] = content
            array.upload(stream)
        found = cudaccl.regionprops_table(arrays[0], names, arrays[1])
        assert all((found[name] == expected[name]).all() for name in names)


def test_arrays_on_wrong_devices():
    on_gpu = InterfaceArray(MASK)
    with pytest.raises(ValueError, match="the labeller runs on the CPU"):
        cudaccl.Labeller(MASK.shape).label(on_gpu, out=np.zeros(MASK.shape, np.int32))
    with pytest.raises(ValueError, match="labeller's device"):
        cudaccl.label(on_gpu, out=np.zeros(MASK.shape, np.int32))
    with pytest.raises(ValueError, match="labeller's device"):
        cudaccl.label(MASK, out=InterfaceArray(MASK.astype(np.int32)))
    with pytest.raises(RuntimeError):
        cudaccl.Labeller((4, 4), device=99)
    with pytest.raises(ValueError, match="neither"):
        cudaccl.label(DLPackArray(MASK, device_type=10))


@pytest.mark.parametrize("fields, error", [
    ({"data": (MASK.ctypes.data, False)}, ValueError), ({"data": (0, False)}, ValueError),
    ({"typestr": "<c8"}, TypeError), ({"typestr": ">i4"}, TypeError), ({"mask": MASK}, ValueError),
    ({"strides": (1,)}, ValueError)])
def test_interfaces_that_are_refused(fields, error):
    with pytest.raises(error):
        cudaccl.label(InterfaceArray(MASK, **fields))


def test_read_only_output_is_refused():
    out = InterfaceArray(MASK.astype(np.int32))
    out.fields = {"data": (out.address.value, True)}
    with pytest.raises(ValueError, match="read-only"):
        cudaccl.label(InterfaceArray(MASK), out=out)


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (2, 0, 4)])
def test_empty_arrays(shape):
    labels, table = cudaccl.label(InterfaceArray(np.zeros(shape, np.uint8)), ndim=len(shape))
    assert labels.shape == shape and len(table) == 0 and cudaccl.copy_to_host(labels).shape == shape


def test_table_is_complete_beyond_the_first_memory():
    from cudaccl import _labeller

    image = np.zeros((66, 66), np.uint8)
    image[::2, ::2] = 1
    rows, first = cudaccl.components(image), _labeller.FIRST_GPU_ROWS
    try:
        _labeller.FIRST_GPU_ROWS = 100
        labeller = cudaccl.Labeller(image.shape, device="cuda")
        assert (labeller.components(InterfaceArray(image)) == rows).all() and labeller.n_components == len(rows)
        limited = cudaccl.Labeller(image.shape, device="cuda", max_components=100)
        assert (limited.components(InterfaceArray(image)) == rows[:100]).all()
        assert limited.n_components == len(rows)
    finally:
        _labeller.FIRST_GPU_ROWS = first


def column_on_host(column):
    """The elements of a column, which another library finds by its interface."""
    interface = column.__cuda_array_interface__
    (length,), (stride,), (address, read_only) = interface["shape"], interface["strides"], interface["data"]
    dtype = np.dtype(interface["typestr"])
    assert read_only and len(column) == length and interface["version"] == 3
    if not length:
        return np.empty(0, dtype)
    memory = np.zeros((length - 1) * stride + dtype.itemsize, np.uint8)
    device_arrays.enter()
    device_arrays.call("cuMemcpyDtoH_v2", ctypes.c_void_p(memory.ctypes.data), ctypes.c_uint64(address),
                       ctypes.c_size_t(memory.nbytes))
    return np.lib.stride_tricks.as_strided(memory[:dtype.itemsize].view(dtype), (length,), (stride,)).copy()


@pytest.mark.parametrize("image", [MASK, np.zeros((9, 9), np.uint8), MASK.astype(np.uint16) * 999])
def test_tables_in_device_memory(image):
    expected, rows = cudaccl.label(image)
    labeller = cudaccl.Labeller(image.shape, device="cuda")
    out = InterfaceArray(np.full(image.shape, 9, np.int32))
    table = labeller.device_table(InterfaceArray(image), out=out)
    assert (out.download() == expected).all() and labeller.n_components == len(table) == len(rows)
    assert table.keys() == rows.dtype.names and (table.copy_to_host() == rows).all()
    for name in table.keys():
        column = column_on_host(table[name])
        assert column.dtype == rows[name].dtype and (column == rows[name]).all()
        assert table[name].__dlpack_device__() == (2, 0)
        capsule = table[name].__dlpack__()
        assert "dltensor" in repr(capsule)
    with pytest.raises(KeyError):
        table["volume"]
    with pytest.raises(BufferError):
        memoryview(table._rows)
    assert (labeller.components(InterfaceArray(image)) == rows).all()


def test_the_package_reads_columns_as_arrays():
    table = cudaccl.Labeller(MASK.shape, device="cuda").device_table(InterfaceArray(MASK))
    view = cudaccl._cudaccl.View(table["area"], None, False)
    assert list(view.shape) == [len(table)] and view.device == 0


def test_kept_tables_in_device_memory_stay_as_they_are(monkeypatch):
    monkeypatch.setattr("cudaccl._labeller.FIRST_GPU_ROWS", 10)  # more components need another labeller
    images = [np.roll(MASK, i, 1) for i in range(5)]
    labeller = cudaccl.Labeller(MASK.shape, device="cuda")
    tables = [labeller.device_table(InterfaceArray(image)) for image in images]
    columns = [table["centroid_x"] for table in tables]
    expected = [cudaccl.components(image) for image in images]
    assert all((table.copy_to_host() == rows).all() for table, rows in zip(tables, expected))
    del labeller, tables  # a column keeps its memory
    gc.collect()
    assert all((column_on_host(column) == rows["centroid_x"]).all() for column, rows in zip(columns, expected))
    limited = cudaccl.Labeller(MASK.shape, device="cuda", max_components=3)
    assert (limited.device_table(InterfaceArray(MASK)).copy_to_host() == expected[0][:3]).all()
    assert limited.n_components == len(expected[0])


def test_tables_in_device_memory_need_a_gpu_and_images():
    with pytest.raises(ValueError, match="images on a GPU"):
        cudaccl.Labeller(MASK.shape).device_table(MASK)
    with pytest.raises(ValueError, match="images on a GPU"):
        cudaccl.Labeller(VOLUME.shape, ndim=3, device="cuda").device_table(InterfaceArray(VOLUME))
    with pytest.raises(ValueError, match="min_area"):
        cudaccl.Labeller(MASK.shape, device="cuda").device_table(InterfaceArray(MASK), min_area=-1)


def lent(table):
    """Whether a table is in memory of its labeller."""
    base = table.base.obj if isinstance(table.base, memoryview) else table.base
    return type(base).__name__ == "LentRows"


@pytest.mark.parametrize("shape, dtype", [((100, 100), np.uint8), ((100, 100), np.uint16), ((3, 60, 90), np.uint8)])
def test_large_tables_stay_as_they_are(shape, dtype):
    """Some are lent by the labeller, which must not write to them again."""
    images = np.zeros((7, *shape), dtype)
    images[..., ::2, ::2] = 1
    for i, image in enumerate(images):
        image[..., 0, :4 * i + 2] = 1
    expected = [cudaccl.components(image, ndim=len(shape)) for image in images]
    labeller = cudaccl.Labeller(shape, ndim=len(shape), device="cuda")
    tables = [labeller.components(InterfaceArray(image)) for image in images]
    assert [lent(table) for table in tables] == [False, True, True, False, False, False, False]
    assert all((table == rows).all() for table, rows in zip(tables, expected))
    tables[1]["area"] = 99  # a table is the caller's own
    del tables[2]
    table = labeller.components(InterfaceArray(images[4]))
    assert lent(table) and (table == expected[4]).all() and (tables[1]["area"] == 99).all()
    del labeller, tables
    gc.collect()
    assert (table == expected[4]).all()
    labeller = cudaccl.Labeller(shape, ndim=len(shape), device="cuda")
    for i in range(12):  # as in the loop of a program
        table = labeller.components(InterfaceArray(images[i % 7]))
        assert lent(table) == (i > 0) and (table == expected[i % 7]).all()
    small = np.zeros_like(images[0])
    assert not lent(labeller.components(InterfaceArray(small)))


def test_device_array_roundtrip():
    for array in (MASK, MASK.astype(np.int32), MASK.astype(bool), random.random((3, 4))):
        copy = cudaccl.copy_to_device(array)
        assert copy.shape == array.shape and copy.dtype == array.dtype.name and copy.nbytes == array.nbytes
        assert (cudaccl.copy_to_host(copy) == array).all()
    assert (cudaccl.components(cudaccl.copy_to_device(MASK)) == cudaccl.components(MASK)).all()
    with pytest.raises(TypeError):
        cudaccl.copy_to_device(np.zeros(3, np.float16))
    assert cudaccl.copy_to_device(np.array(5)).copy_to_host().shape == ()
    with pytest.raises(TypeError, match="masked"):
        cudaccl.copy_to_device(np.ma.masked_equal(np.arange(4), 2))


@pytest.mark.parametrize("shape", [(2**33, 2**31), (2**63, 2), (2**32, 2**32), (2**62,), (2**61, 2**3)])
def test_device_arrays_that_are_too_large(shape):
    with pytest.raises((ValueError, MemoryError)):
        cudaccl.DeviceArray(shape, "int32")
    assert cudaccl.DeviceArray((0, *shape), "int32").nbytes == 0


def test_device_arrays_that_are_refused():
    with pytest.raises(ValueError, match="negative"):
        cudaccl.DeviceArray((4, 4), "uint8", -1)
    with pytest.raises(RuntimeError):
        cudaccl.DeviceArray((4, 4), "uint8", 1000)


@pytest.mark.skipif(not SIMULATED, reason="only the simulated driver loses its device on request")
def test_device_arrays_outlive_a_lost_device():
    program = ("import cudaccl, numpy as np\n"
               "array = cudaccl.DeviceArray((4, 4), 'uint8')\n"
               "try: cudaccl.copy_to_host(array)\n"
               "except RuntimeError as error: print(error)\n"
               "del array\n"
               "print('alive')")
    environment = {**os.environ, "SIMCUDA_FAULT": "copy:1:719:lost"}
    result = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert result.returncode == 0 and "CUDA_ERROR_LAUNCH_FAILED" in result.stdout and "alive" in result.stdout, result


def test_device_array_is_a_dlpack_array():
    array = cudaccl.copy_to_device(MASK)

    class Only:
        """The DLPack side of the array alone."""

        def __dlpack__(self, **options):
            return array.__dlpack__(**options)

        def __dlpack_device__(self):
            return array.__dlpack_device__()

    assert (cudaccl.components(Only()) == cudaccl.components(MASK)).all()


def test_table_on_the_device():
    table = cudaccl.components(MASK)
    copy = cudaccl.copy_to_host(cudaccl.table_to_array(table, InterfaceArray(MASK)))
    assert copy.shape == (len(table), 8) and (copy[:, 1] == table["area"]).all()
    assert (copy[:, 7] == table["centroid_y"]).all()
    assert (cudaccl.table_to_array(table, MASK) == copy).all()


def test_properties_of_masks_and_label_maps():
    properties = ["label", "area", "perimeter", "n_holes", "intensity_mean"]
    expected = cudaccl.regionprops_table(MASK > 0, properties, intensity_image=MASK)
    for image in (cudaccl.copy_to_device(MASK > 0), cudaccl.label(InterfaceArray(MASK))[0]):
        columns = cudaccl.regionprops_table(image, properties, intensity_image=MASK)
        assert all((columns[name] == column).all() for name, column in expected.items())


@pytest.mark.parametrize("method", ["threshold", "otsu", "mog2", "codebook"])
def test_foreground_same_as_on_the_cpu(method):
    base = random.integers(60, 90, (30, 70))
    roi = (random.random((30, 70)) < 0.9).astype(np.uint8)
    arguments = {"roi_mask": roi, "denoise": "median-3x3", "history": 10, "threshold": 80}
    cpu = cudaccl.Foreground((30, 70), method, **arguments)
    gpu = cudaccl.Foreground((30, 70), method, device="cuda", **arguments)
    for i in range(6):
        frame = (base + random.integers(-4, 5, base.shape)).astype(np.uint8)
        frame[5:15, 8 * i:8 * i + 10] = 200
        expected = cpu.apply(frame)
        mask = gpu.apply(InterfaceArray(frame, pitched=i % 2 == 1))
        assert (cudaccl.copy_to_host(mask) == expected).all()
    out = InterfaceArray(np.zeros((30, 70), np.uint8), pitched=True)
    assert gpu.apply(frame, out=out) is out and (out.download() == cpu.apply(frame)).all()
    with pytest.raises(ValueError, match="must be in"):
        cpu.apply(InterfaceArray(frame), out=np.zeros((30, 70), np.uint8))


@pytest.mark.parametrize("method", ["mog2", "codebook"])
def test_chroma_and_shadows_same_as_on_the_cpu(method):
    cpu, gpu = (cudaccl.Foreground((20, 33), method, chroma=True, shadows="mark", closing=(3, 3), hold=2, device=device)
                for device in ("cpu", "cuda"))
    for i in range(4):
        y = random.integers(100, 110, (20, 33)).astype(np.uint8)
        if i == 3:
            y[4:16, 8:24] = 200
        uv = random.integers(100, 110, (10, 17, 2)).astype(np.uint8)
        expected = cpu.apply(y, chroma=(uv[..., 0], uv[..., 1]))
        u, v = (InterfaceArray(np.ascontiguousarray(uv[..., k])) for k in (0, 1))
        assert (cudaccl.copy_to_host(gpu.apply(InterfaceArray(y), chroma=(u, v))) == expected).all()
    assert expected[6:14, 10:22].all()
    with pytest.raises(ValueError, match="where the frame is"):
        gpu.apply(InterfaceArray(y), chroma=(uv[..., 0], uv[..., 1]))


def libraries():
    """Functions that make an array of each library on the GPU, and the name of its class."""

    def torch():
        import torch
        return lambda a: torch.from_numpy(a.copy()).cuda(), torch.Tensor

    def cupy():
        import cupy
        return cupy.asarray, cupy.ndarray

    def jax():
        import jax
        return lambda a: jax.device_put(a, jax.devices("gpu")[0]), jax.Array

    def numba():
        from numba import cuda
        return cuda.to_device, type(cuda.to_device(MASK))

    return [torch, cupy, jax, numba]


@pytest.mark.parametrize("library", libraries(), ids=lambda library: library.__name__)
def test_other_libraries(library):
    """Label map and table come back in the library's own kind of array."""
    if SIMULATED:
        pytest.skip("other libraries need an NVIDIA GPU")
    try:
        make, kind = library()
    except ImportError as missing:
        pytest.skip(f"not installed: {missing.name}")

    def host(array):
        return array.copy_to_host() if hasattr(array, "copy_to_host") else (
            array.get() if hasattr(array, "get") else np.asarray(array.cpu() if hasattr(array, "cpu") else array))

    for image, connectivity in ((MASK, 8), (MASK, 4), (VOLUME, 26)):
        expected, rows = cudaccl.label(image, connectivity)
        labels, table = cudaccl.label(make(image), connectivity)
        assert isinstance(labels, kind) and (host(labels) == expected).all() and (table == rows).all()
        matrix = cudaccl.table_to_array(table, make(image))
        assert isinstance(matrix, kind)
        np.testing.assert_allclose(host(matrix)[:, 1], table["area"])
    mask = cudaccl.Foreground(MASK.shape, "threshold", device=0).apply(make(MASK))
    assert isinstance(mask, kind) and (host(mask) == 255 * MASK).all()
    words = MASK.astype(np.uint16) * 1000
    assert (host(cudaccl.label(make(words), threshold=999)[0]) == cudaccl.label(MASK)[0]).all()
    if library.__name__ != "numba":  # its arrays have no comparisons
        signed = MASK.astype(np.int16) - 1
        assert (host(cudaccl.label(make(signed), threshold=-1)[0]) == cudaccl.label(MASK)[0]).all()
    empty, table = cudaccl.label(make(np.zeros((0, 4), np.uint8)))
    assert tuple(empty.shape) == (0, 4) and len(table) == 0
    if library.__name__ == "torch":
        assert isinstance(cudaccl.label(make(MASK).cpu())[0], kind)
    if library.__name__ == "numba":
        return
    labels, _ = cudaccl.label(make(MASK))
    assert cudaccl.rle(labels) == cudaccl.rle(cudaccl.label(MASK)[0])
    if library.__name__ != "jax":  # which may have no floats of 64 bits
        distances = cudaccl.distance(make(MASK.astype(bool)))
        assert isinstance(distances, kind) and (host(distances) == cudaccl.distance(MASK.astype(bool))).all()
    wide, turned, colours = np.repeat(MASK, 2, 1), np.ascontiguousarray(MASK.T), np.stack([1 - MASK, MASK, 1 - MASK], -1)
    expected, rows = cudaccl.label(MASK)
    for array in make(wide)[:, ::2], make(turned).T, make(colours)[..., 1]:
        labels, table = cudaccl.label(array)
        assert (host(labels) == expected).all() and (table == rows).all()


@pytest.mark.parametrize("library", libraries()[:3], ids=lambda library: library.__name__)
def test_devices_and_short_floats_of_other_libraries(library):
    if SIMULATED:
        pytest.skip("other libraries need an NVIDIA GPU")
    try:
        make, _ = library()
    except ImportError as missing:
        pytest.skip(f"not installed: {missing.name}")
    rows = cudaccl.components(MASK)
    halves = MASK.astype(np.float16) / 2
    if library.__name__ == "cupy":
        import cupy

        devices, arrays = [cupy.cuda.Device(0)], [make(halves), make(MASK[::-1, ::-1].copy())[::-1, ::-1]]
    elif library.__name__ == "torch":
        import torch

        devices = [torch.device("cuda"), torch.device("cuda:0")]
        arrays = [make(halves), make(halves).cpu(), make(halves).bfloat16(), make(halves).bfloat16().cpu()]
        assert "cpu" in repr(cudaccl.Labeller((2, 2), device=torch.device("cpu")))
        assert cudaccl.label_values(arrays[3])[1] == cudaccl.label_values(MASK)[1]
        assert (cudaccl.label_batch(arrays[3])[1] == rows).all()
        with torch.cuda.stream(torch.cuda.Stream()):  # which does not wait for others
            for _ in range(20):
                image = torch.zeros(2000, 3000, device="cuda", dtype=torch.uint8)
                image[1:-1, 1:-1] = 1
                assert cudaccl.components(image.T)["area"].tolist() == [1998 * 2998]
                found = cudaccl.regionprops_table(np.ones((2000, 3000), np.int32), image, ["intensity_mean"])
                assert found["intensity_mean"][0] == 1998 * 2998 / 6e6
    else:
        import jax

        devices = [jax.devices("gpu")[0]]
        arrays = [make(halves), make(halves).astype("bfloat16"), jax.device_put(halves, jax.devices("cpu")[0]).astype("bfloat16")]
        assert "cpu" in repr(cudaccl.Labeller((2, 2), device=jax.devices("cpu")[0]))
    for device in devices:
        assert (cudaccl.Labeller(MASK.shape, device=device).components(MASK) == rows).all() and "cuda:0" in repr(
            cudaccl.Labeller(MASK.shape, device=device))
    for array in arrays:
        assert (cudaccl.components(array, threshold=0.25) == rows).all()


KINDS = [InterfaceArray, DLPackArray, ExchangeArray]
IMAGE_PROPERTIES = ["label", "area", "bbox", "centroid", "perimeter", "eccentricity", "orientation", "axis_major_length",
                    "axis_minor_length", "euler_number", "n_holes", "crack_length", "inertia_tensor",
                    "inertia_tensor_eigvals", "touches_border", "first_pixel", "hull_area", "hull_solidity", "feret_max",
                    "feret_min", "slice", "area_convex", "feret_diameter_max", "perimeter_crofton", "moments_hu"]
VOLUME_PROPERTIES = ["label", "num_pixels", "bbox", "centroid", "euler_number", "surface_area", "inertia_tensor",
                     "inertia_tensor_eigvals", "axis_major_length", "axis_minor_length", "touches_border", "first_pixel",
                     "moments_central"]
OF_VALUES = ["centroid_weighted", "intensity_max", "intensity_max_position", "intensity_mean", "intensity_median", "intensity_min",
             "intensity_std"]
BLOBS = np.where(random.random((40, 77)) < 0.7, random.integers(0, 9, (5, 11)).repeat(8, 0).repeat(7, 1), 0)
CELLS = np.where(random.random((9, 12, 50)) < 0.8, random.integers(0, 9, (3, 4, 10)).repeat(3, 0).repeat(3, 1).repeat(5, 2), 0)


def assert_same_columns(found, expected):
    assert list(found) == list(expected)
    for name, column in expected.items():
        assert found[name].dtype == column.dtype, name
        np.testing.assert_array_equal(found[name], column, err_msg=name)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pitched", [False, True, *LAYOUTS])
def test_properties_as_on_the_cpu(kind, pitched):
    for labels, properties in (BLOBS, IMAGE_PROPERTIES), (CELLS, VOLUME_PROPERTIES):
        for dtype, values in ("int32", "uint8"), ("uint32", "uint16"), ("int32", "bool"):
            image = random.integers(0, 2**16, labels.shape).astype(values)
            given = labels.astype(dtype)
            expected = cudaccl.regionprops_table(given, properties + OF_VALUES, intensity_image=image)
            found = cudaccl.regionprops_table(kind(given, pitched), properties + OF_VALUES,
                                              intensity_image=kind(image, pitched))
            assert_same_columns(found, expected)
        assert_same_columns(cudaccl.regionprops_table(kind(given, pitched), ["label", "bbox"], largest=3),
                            cudaccl.regionprops_table(given, ["label", "bbox"], largest=3))


@pytest.mark.parametrize("kind", KINDS)
def test_properties_of_masks(kind):
    for mask, properties, connectivities in ((MASK, IMAGE_PROPERTIES, (None, 4, 8)), (VOLUME, VOLUME_PROPERTIES, (6, 18, 26))):
        for connectivity in connectivities:
            expected = cudaccl.regionprops_table(mask.astype(bool), properties, connectivity=connectivity)
            found = cudaccl.regionprops_table(kind(mask.astype(bool)), properties, connectivity=connectivity)
            assert_same_columns(found, expected)
    for shape in (0, 7), (3, 0, 2):
        names = ["label", "area", "euler_number", "intensity_mean"]
        assert_same_columns(cudaccl.regionprops_table(kind(np.zeros(shape, np.int32)), names,
                                                      intensity_image=kind(np.zeros(shape, np.uint8))),
                            cudaccl.regionprops_table(np.zeros(shape, np.int32), names,
                                                      intensity_image=np.zeros(shape, np.uint8)))


def test_properties_of_many_labels():
    """More than an object measures at first."""
    labels = np.arange(5000, dtype=np.int32).reshape(50, 100)
    assert_same_columns(cudaccl.regionprops_table(InterfaceArray(labels), IMAGE_PROPERTIES),
                        cudaccl.regionprops_table(labels, IMAGE_PROPERTIES))
    labels, table = cudaccl.label(InterfaceArray(MASK))
    assert_same_columns(cudaccl.regionprops_table(labels, IMAGE_PROPERTIES),
                        cudaccl.regionprops_table(cudaccl.copy_to_host(labels), IMAGE_PROPERTIES))


class Divided(InterfaceArray):
    """Can be indexed and converted."""

    def __getitem__(self, index):
        return InterfaceArray(self.download()[index].copy())

    def astype(self, dtype):
        return InterfaceArray(self.download().astype(dtype))

    def max(self):
        return self.download().max()

    def min(self):
        return self.download().min()


def test_channels_and_other_integers():
    colours = random.integers(0, 256, (*BLOBS.shape, 3)).astype(np.uint8)
    expected = cudaccl.regionprops_table(BLOBS, ["label", "perimeter", *OF_VALUES], intensity_image=colours)
    for dtype in np.int64, np.uint8, np.uint16:
        found = cudaccl.regionprops_table(Divided(BLOBS.astype(dtype)), ["label", "perimeter", *OF_VALUES],
                                          intensity_image=Divided(colours))
        assert_same_columns(found, expected)


def test_label_maps_that_cannot_be_measured():
    names, image = ["label", "intensity_mean"], np.zeros(BLOBS.shape, np.uint8)
    good = InterfaceArray(BLOBS.astype(np.int32))
    for labels, values, error in ((InterfaceArray(BLOBS.astype(np.int64)), InterfaceArray(image), TypeError),
                                  (InterfaceArray(BLOBS.astype(np.float32)), InterfaceArray(image), TypeError),
                                  (InterfaceArray(CELLS.astype(bool)), InterfaceArray(image), ValueError),
                                  (InterfaceArray(-BLOBS.astype(np.int32)), InterfaceArray(image), ValueError),
                                  (InterfaceArray(BLOBS.astype(np.int32) * 10**6), InterfaceArray(image), ValueError),
                                  (Divided(BLOBS.astype(np.int64) * 2**31), InterfaceArray(image), ValueError),
                                  (good, None, ValueError), (good, image.astype(complex), TypeError),
                                  (good, InterfaceArray(image[1:]), ValueError),
                                  (good, InterfaceArray(image.astype(np.float16)), TypeError),
                                  (good, InterfaceArray(np.zeros((*image.shape, 0), np.uint8)), ValueError)):
        with pytest.raises(error):
            cudaccl.regionprops_table(labels, names, intensity_image=values)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pitched", [False, True, device_arrays.transposed])
@pytest.mark.parametrize("which", ["pixels", "cracks"])
def test_contours_as_on_the_cpu(kind, pitched, which):
    for image in MASK, MASK.astype(bool), BLOBS.astype(np.uint8), BLOBS.astype(np.int32), BLOBS.astype(np.uint16):
        for options in ({}, {"connectivity": 4}, {"threshold": 3}, {"invert": True}, {"min_area": 3, "max_area": 40},
                        {"threshold": 2, "tolerance": 1}):
            if kind is not InterfaceArray and image.dtype == np.int32 and {"threshold", "invert"} & set(options):
                continue  # its own library would compare it
            found = cudaccl.contours(kind(image, pitched), kind=which, **options)
            expected = cudaccl.contours(image, kind=which, **options)
            assert found.n_components == expected.n_components
            assert (found.table == expected.table).all() and (found.points == expected.points).all()
    touching = np.random.default_rng(3).choice([0, 1, 5, 900], (40, 31)).astype(np.int32)  # more ends than of masks
    for labels in touching, touching.repeat(3, 0).repeat(2, 1), (touching % 7).astype(np.uint8):
        for options in {}, {"min_area": 5, "connectivity": 4}:
            found = cudaccl.contours(kind(labels, pitched), kind=which, labels=True, **options)
            expected = cudaccl.contours(labels, kind=which, labels=True, **options)
            assert (found.table == expected.table).all() and (found.points == expected.points).all()
    wide = np.zeros((2, 66000), np.uint8)  # more words than are packed in shared memory
    wide[:, 100::333] = wide[1, 65900:] = 1
    assert (cudaccl.contours(kind(wide, pitched), kind=which).points == cudaccl.contours(wide, kind=which).points).all()
    labels, _ = cudaccl.label(kind(MASK))  # a DeviceArray
    assert (cudaccl.contours(labels, kind=which).points == cudaccl.contours(MASK, kind=which).points).all()
    assert len(cudaccl.contours(kind(np.zeros((0, 3), np.uint8)))) == 0
    with pytest.raises(ValueError, match="2 dimensions"):
        cudaccl.contours(kind(VOLUME))


def test_labels_are_chosen_on_the_gpu(monkeypatch):
    """No pixel of a label map is copied to the host; labels that are far apart are numbered there."""
    labels = BLOBS.astype(np.int32)
    far = np.where(labels == labels.max(), 2**30, labels)
    device = [InterfaceArray(map) for map in (labels, far)]
    assert (cudaccl.copy_to_host(cudaccl.keep_largest(device[1], 2)) == cudaccl.keep_largest(far, 2)).all()
    with monkeypatch.context() as patched:
        patched.setattr(cudaccl._objects._cudaccl, "copy_view_to_host", None)
        results = cudaccl.clear_border(device[0]), cudaccl.keep_largest(device[0], 3)
    for result, expected in zip(results, (cudaccl.clear_border(labels), cudaccl.keep_largest(labels, 3))):
        assert (cudaccl.copy_to_host(result) == expected).all()


@pytest.mark.parametrize("kind", KINDS)
def test_objects_as_on_the_cpu(kind):
    labels, masks = BLOBS.astype(np.int32), random.random((4, 21, 33)) < 0.5
    for result, expected in ((cudaccl.fill_label_holes(kind(labels)), cudaccl.fill_label_holes(labels)),
                             (cudaccl.clear_border(kind(labels)), cudaccl.clear_border(labels)),
                             (cudaccl.keep_largest(kind(labels), 3), cudaccl.keep_largest(labels, 3)),
                             (cudaccl.clear_border(kind(masks.view(np.uint8))), cudaccl.clear_border(masks)),
                             (cudaccl.keep_largest(kind(masks.view(np.uint8)), 2, 4), cudaccl.keep_largest(masks, 2, 4))):
        assert isinstance(result, cudaccl.DeviceArray)
        assert (cudaccl.copy_to_host(result) == expected).all()
    for found, expected in zip(cudaccl.adjacency(kind(labels), 8), cudaccl.adjacency(labels, 8)):
        assert (found == expected).all()
    (_, n, values), expected = (cudaccl.label_values(image, return_values=True) for image in (kind(labels), labels))
    assert n == expected[1] and (values == expected[2]).all()
    with pytest.raises(TypeError, match="background"):
        cudaccl.label_values(kind(labels), background=3)
    names = ["area", "centroid", "inertia_tensor", "axis_major_length", "n_holes"]
    assert_same_columns(cudaccl.regionprops_table(kind(labels), properties=names, spacing=(2, 0.5)),
                        cudaccl.regionprops_table(labels, properties=names, spacing=(2, 0.5)))


@pytest.mark.parametrize("kind", KINDS)
def test_run_lengths_as_on_the_cpu(kind):
    stripes = np.zeros((600, 40), np.int32)
    stripes[:, 3:20] = 70000  # runs over several columns, and over bands of rows
    stripes[::3, 25:] = np.arange(1, 201)[:, np.newaxis]
    stripes[-1, -1] = stripes[0, 0] = 9
    for labels in BLOBS.astype(np.int32), MASK.astype(bool), stripes, np.full((3, 4), 5, np.int32), np.zeros((5, 6), np.int32):
        for pitched in False, True, *LAYOUTS:
            for compressed in False, True:
                assert cudaccl.rle(kind(labels, pitched), compressed=compressed) == cudaccl.rle(labels, compressed=compressed)
    labels, _ = cudaccl.label(kind(MASK))
    assert cudaccl.rle(labels) == cudaccl.rle(MASK.astype(bool))
    noise = (1 + 100000 * random.permutation(257 * 65)).reshape(257, 65).astype(np.int32)  # each pixel a run: more than there is memory for at first
    for _ in range(2):
        found = cudaccl.rle(kind(noise), compressed=False)
        for encoding, place in zip(found, np.argsort(noise.ravel(), kind="stable")):
            pixel = int(place % 65 * 257 + place // 65)
            assert encoding == {"size": [257, 65], "counts": [pixel, 1] + [257 * 65 - pixel - 1] * (pixel < 257 * 65 - 1)}
    with pytest.raises(ValueError, match="negative"):
        cudaccl.rle(kind(-BLOBS.astype(np.int32)))


@pytest.fixture
def pixels_stay(monkeypatch):
    """Nothing is copied between an array on the GPU and the host."""
    def copied(*arguments, **options):
        raise AssertionError("pixels were copied")

    def on_the_device(function):
        return lambda map, *others: (copied if map.device < 0 else function)(map, *others)

    for name in "fill_label_holes", "join_borders":
        monkeypatch.setattr(cudaccl._cudaccl, name, on_the_device(getattr(cudaccl._cudaccl, name)))
    monkeypatch.setattr(cudaccl._cudaccl, "copy_view_to_host", copied)
    monkeypatch.setattr(cudaccl._arrays, "copy_to_device", copied)


def label_maps(seed, shape):
    """Label maps whose labels touch, are in parts and around each other."""
    maps = np.random.default_rng(seed)
    for n, block, density in (1, 1, 0.95), (1, 1, 0.8), (2, 3, 0.95), (4, 2, 0.9), (6, 1, 1):
        values = np.array([9, 1, 0, 300, 70000, 2])[maps.integers(0, n, np.array(shape) // block + 1)]
        for axis in range(len(shape)):
            values = values.repeat(block, axis)
        yield (values[tuple(map(slice, shape))] * (maps.random(shape) < density)).astype(np.int32)


@pytest.mark.parametrize("shape, connectivity", [((17, 29), 4), ((17, 29), 8), ((5, 8, 9), 6), ((5, 8, 9), 18), ((5, 8, 9), 26)])
def test_holes_of_labels_are_filled_on_the_device(shape, connectivity, pixels_stay):
    pytest.importorskip("scipy.ndimage")
    pytest.importorskip("hypothesis")
    from test_objects import filled_by_scipy

    n_filled = 0
    for seed, max_area, layout in (1, 0, False), (2, 0, device_arrays.transposed), (3, 4, True):
        for labels in label_maps(seed, shape):
            found = cudaccl.fill_label_holes(InterfaceArray(labels, layout), max_area, connectivity)
            expected = filled_by_scipy(labels, connectivity, max_area)
            assert isinstance(found, cudaccl.DeviceArray) and found.dtype == "int32"
            assert (found.copy_to_host() == expected).all()
            n_filled += (expected != labels).any()
    assert n_filled > 1


def test_holes_of_masks_and_odd_maps_on_the_device(pixels_stay):
    ring = np.zeros((7, 9), bool)
    ring[1:6, 1:8] = True
    ring[2:5, 2:7] = ring[0, 0] = False
    ring[3, 4] = True  # a component of its own
    expected = cudaccl.label(ring)[0]
    expected[2:5, 2:7][expected[2:5, 2:7] == 0] = 1
    for kind in KINDS:
        assert (cudaccl.fill_label_holes(kind(ring)).copy_to_host() == expected).all()
    assert (cudaccl.fill_label_holes(InterfaceArray(np.zeros((3, 5), np.int32))).copy_to_host() == 0).all()
    assert (cudaccl.fill_label_holes(InterfaceArray(np.full((3, 5), 8, np.uint32))).copy_to_host() == 8).all()
    for error, call in ((ValueError, lambda map: cudaccl.fill_label_holes(map, connectivity=5)),
                        (ValueError, lambda map: cudaccl.fill_label_holes(map, -1)),
                        (TypeError, lambda map: cudaccl.fill_label_holes(map, 1.5)),
                        (ValueError, lambda map: cudaccl.fill_label_holes(InterfaceArray(-BLOBS.astype(np.int32))))):
        with pytest.raises(error):
            call(InterfaceArray(BLOBS.astype(np.int32)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape, connectivity", [((9, 17), 4), ((9, 17), 8), ((4, 5, 7), 6), ((4, 5, 7), 18), ((4, 5, 7), 26)])
def test_borders_that_touch_are_joined_on_the_device(kind, shape, connectivity, pixels_stay):
    pytest.importorskip("scipy.ndimage")
    pytest.importorskip("hypothesis")
    from test_periodic import flooded

    masks = np.random.default_rng(connectivity)
    for axes in {-1}, {0}, {0, len(shape) - 1}, set():
        mask = masks.random(shape) < 0.4
        axes = {axis % len(shape) for axis in axes}
        labels, table = cudaccl.label_periodic(kind(mask), axes, connectivity)
        expected, n = flooded(mask, axes, connectivity)
        assert isinstance(labels, cudaccl.DeviceArray) and (labels.copy_to_host() == expected).all()
        assert table["label"].tolist() == list(range(1, n + 1))
        assert table["area"].tolist() == np.bincount(expected.ravel())[1:].tolist()


def test_periodic_tables_have_the_bits_of_the_cpu():
    """Boxes and circular means of images of all types, also of those that the host labels."""
    for image, options in ((MASK, {}), (MASK * 9, {"threshold": 3, "connectivity": 4}), (MASK, {"invert": True}),
                           (MASK.astype(np.uint16) * 700, {"threshold": 600}), (VOLUME, {"connectivity": 18}),
                           (np.zeros((3, 4), np.uint8), {}), (np.ones((5, 6), np.uint8), {}), (np.zeros((0, 4), np.uint8), {}),
                           (MASK, {"threshold": 300}), (MASK.astype(np.int32), {}), (MASK * 0.5, {"threshold": 0.2})):
        for axes in range(2 ** image.ndim):
            chosen = [axis for axis in range(image.ndim) if axes >> axis & 1]
            labels, table = cudaccl.label_periodic(InterfaceArray(image), chosen, **options)
            expected, rows = cudaccl.label_periodic(image, chosen, **options)
            assert (labels.copy_to_host() == expected).all() and table.dtype == rows.dtype
            assert table.tobytes() == rows.tobytes()
    with pytest.raises(ValueError, match="axes"):
        cudaccl.label_periodic(InterfaceArray(MASK), 2)
    with pytest.raises(ValueError, match="2 dimensions"):
        cudaccl.label_periodic(InterfaceArray(VOLUME), 0)


@pytest.mark.parametrize("kind", KINDS)
def test_objects_that_touch_are_split_on_the_device(kind, pixels_stay):
    """Circles that touch, and noise, whose distances have many ties."""
    y, x = np.indices((40, 90))
    circles = np.hypot(x % 30 - 15, y % 20 - 10) < 12
    n_objects = 0
    for labels in circles, MASK.astype(bool), BLOBS.astype(np.int32), CELLS.astype(np.int32):
        for radius, connectivity in (1, 1), (4, None):
            objects, n = cudaccl.split_touching(kind(labels), radius, connectivity, ndim=labels.ndim)
            expected, wanted = cudaccl.split_touching(labels, radius, connectivity, ndim=labels.ndim)
            assert isinstance(objects, cudaccl.DeviceArray) and n == wanted and (objects.copy_to_host() == expected).all()
            n_objects += n
    assert n_objects > 100


def test_markers_are_flooded_on_the_device():
    places = np.random.default_rng(3)
    for labels in MASK.astype(bool), BLOBS.astype(np.int32), CELLS.astype(np.int32):
        markers = places.integers(1, 9, labels.shape) * (places.random(labels.shape) < 0.05)
        expected, n = cudaccl.split_touching(labels, markers=markers, ndim=labels.ndim)
        for given in markers, InterfaceArray(markers.astype(np.int32)):
            for layout in False, device_arrays.transposed:
                objects, found = cudaccl.split_touching(InterfaceArray(labels, layout), markers=given, ndim=labels.ndim)
                assert found == n and (objects.copy_to_host() == expected).all()
    for error, given in (ValueError, markers[1:]), (ValueError, -markers), (ValueError, markers * 0.5):
        with pytest.raises(error, match="markers"):
            cudaccl.split_touching(InterfaceArray(CELLS.astype(np.int32)), markers=given, ndim=3)


def test_distances_and_objects_as_on_the_cpu():
    for labels, ndim in (BLOBS, 2), (CELLS, 3):
        for layout in True, *LAYOUTS:
            array = InterfaceArray(labels.astype(np.int32), layout)
            found, expected = cudaccl.distance(array, ndim=ndim), cudaccl.distance(labels, ndim=ndim)
            assert isinstance(found, cudaccl.DeviceArray) and (found.copy_to_host() == expected).all()
            objects, n = cudaccl.split_touching(array, 2, ndim=ndim)
            expected, wanted = cudaccl.split_touching(labels, 2, ndim=ndim)
            assert n == wanted and isinstance(objects, cudaccl.DeviceArray) and (objects.copy_to_host() == expected).all()
        found, n = cudaccl.split_touching(labels, 2, ndim=ndim, markers=objects)
        assert n == wanted and (found == expected).all()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", [InterfaceArray, DLPackArray, ExchangeArray])
def test_pixels_that_are_not_consecutive(kind, layout):
    """Functions that other tests call with rows of consecutive pixels alone."""
    expected, rows = cudaccl.label(MASK)
    words = kind(MASK.astype(np.uint16) * 700, layout)
    assert (cudaccl.label(words, threshold=600)[0].copy_to_host() == expected).all()
    for out in kind(np.full(MASK.shape, 9, np.int32), layout), kind(np.full(MASK.shape, 9, np.uint32), layout):
        assert cudaccl.label(kind(MASK, layout), out=out)[0] is out and (out.download() == expected).all()
        out.upload()
        assert cudaccl.label_values(kind(MASK, layout), out=out)[0] is out
        assert (out.download() == cudaccl.label_values(MASK)[0]).all()
    grey = (random.random(MASK.shape) * 255).astype(np.uint8)
    on_gpu, on_cpu = (cudaccl.Foreground(MASK.shape, "threshold", threshold=99, device=device) for device in ("cuda", "cpu"))
    out = kind(grey, layout)
    assert on_gpu.apply(kind(grey, layout), out=out) is out and (out.download() == on_cpu.apply(grey)).all()
    u, v = (random.integers(0, 256, (17, 35)).astype(np.uint8) for _ in range(2))
    on_gpu, on_cpu = (cudaccl.Foreground(MASK.shape, "mog2", chroma=True, device=device) for device in ("cuda", "cpu"))
    for frame in grey, grey // 2 + 100, grey:
        mask = on_gpu.apply(kind(frame, layout), chroma=(kind(u, layout), kind(v, layout)))
        assert (mask.copy_to_host() == on_cpu.apply(frame, chroma=(u, v))).all()
    labels = kind(expected, layout)
    assert (cudaccl.Tracker(MASK.shape).update(rows, labels=labels).tracks ==
            cudaccl.Tracker(MASK.shape).update(rows, labels=expected).tracks).all()
    colours = np.stack([grey, u.repeat(2, 0)[:33].repeat(2, 1), 255 - grey], -1)
    names = ["label", "area", "intensity_mean"]
    for image in colours, grey.astype(np.uint16) * 3, grey * 0.5:
        assert_same_columns(cudaccl.regionprops_table(labels, kind(image, layout), names),
                            cudaccl.regionprops_table(expected, image, names))
    objects = cudaccl.fill_label_holes(labels), cudaccl.clear_border(labels), cudaccl.keep_largest(labels)
    wanted = cudaccl.fill_label_holes(expected), cudaccl.clear_border(expected), cudaccl.keep_largest(expected)
    assert all((found.copy_to_host() == whole).all() for found, whole in zip(objects, wanted))
    periodic, table = cudaccl.label_periodic(kind(MASK, layout), axes=(0, 1))
    whole, rows = cudaccl.label_periodic(MASK, axes=(0, 1))
    assert (periodic.copy_to_host() == whole).all() and (table == rows).all()


def test_elements_at_one_place():
    row = InterfaceArray(MASK[0], strides=(0, 1), shape=MASK.shape)
    assert (cudaccl.label(row)[0].copy_to_host() == cudaccl.label(np.broadcast_to(MASK[0], MASK.shape))[0]).all()
    with pytest.raises(ValueError, match="places of their own"):
        cudaccl.label(row, out=InterfaceArray(np.zeros(70, np.int32), strides=(0, 4), shape=MASK.shape))


class Immutable(InterfaceArray):
    """As JAX's arrays, which it holds for constant."""


Immutable.__module__ = "jaxlib.xla_extension"


def test_immutable_arrays_are_not_written():
    masks, image = Immutable(MASKS), Immutable(MASK)
    for call in (lambda: cudaccl.fill_holes(masks, value=1), lambda: cudaccl.remove_small(masks, 9),
                 lambda: cudaccl.label(InterfaceArray(MASK), out=Immutable(np.zeros(MASK.shape, np.int32))),
                 lambda: cudaccl.label_values(InterfaceArray(MASK), out=Immutable(np.zeros(MASK.shape, np.int32)))):
        with pytest.raises(TypeError, match="immutable"):
            call()
    assert (masks.download() == MASKS).all() and (image.download() == MASK).all()


def test_arrays_of_the_package():
    array = cudaccl.copy_to_device(np.arange(12, dtype=np.int32).reshape(3, 4))
    assert repr(array) == "<cudaccl.DeviceArray of int32, shape (3, 4), on cuda:0>"
    assert (len(array), array.shape, array.ndim, array.nbytes) == (3, (3, 4), 2, 48) and array.dtype == np.dtype("int32")
    assert (array.copy_to_host() == np.arange(12).reshape(3, 4)).all()
    with pytest.raises(TypeError):
        len(cudaccl.DeviceArray((), "int32"))


class Device:
    """A device of another library."""

    def __init__(self, module, **attributes):
        self.__dict__.update(attributes)
        self.__class__ = type("Device", (Device,), {"__module__": module})


def test_devices_of_other_libraries():
    gpus = "cuda", "cuda:0", 0, Device("cupy.cuda.device", id=0), Device("jaxlib.xla_extension", platform="gpu", local_hardware_id=0)
    for device in gpus:
        assert "cuda:0" in repr(cudaccl.Labeller((2, 2), device=device))
        assert cudaccl.copy_to_device(np.zeros(3, bool), device).device == 0
    assert "cpu" in repr(cudaccl.Labeller((2, 2), device=Device("jaxlib.xla_extension", platform="cpu", id=0)))
    for device in "cuda:", "cuda:-1", "cuda:x", "cuda:²", "gpu", "", Device("jaxlib.xla_extension", platform="tpu", id=0):
        with pytest.raises(ValueError, match="a device is"):
            cudaccl.Labeller((2, 2), device=device)


def test_warm_up_leaves_nothing_to_plan(monkeypatch):
    cudaccl.clear_cache()
    cudaccl.warm_up(MASK.shape, connectivity=4)
    image = InterfaceArray(MASK)

    def made(*arguments, **options):
        raise AssertionError("something was planned")

    monkeypatch.setattr(cudaccl._cudaccl, "Labeller", made)
    assert (cudaccl.label(image, 4)[1] == cudaccl.label(MASK, 4)[1]).all()
    monkeypatch.undo()
    cudaccl.warm_up((3, 4, 5), ndim=3)
    cudaccl.warm_up((8, 8), device="cpu")


@pytest.mark.parametrize("kind", [InterfaceArray, DLPackArray, ExchangeArray])
def test_values_where_the_labels_are_not(kind):
    labels, grey = cudaccl.label(MASK)[0], random.integers(0, 256, (*MASK.shape, 2)).astype(np.uint8)
    names = ["label", "area", "intensity_mean", "intensity_max"]
    for image in grey[..., 0], grey, grey[..., 0] * 0.5:
        expected = cudaccl.regionprops_table(labels, image, names)
        assert_same_columns(cudaccl.regionprops_table(labels, kind(image, device_arrays.backwards), names), expected)
        assert_same_columns(cudaccl.regionprops_table(MASK.astype(bool), kind(image), names), expected)
        assert_same_columns(cudaccl.regionprops_table(kind(labels), image, names), expected)


def test_device_memory_is_no_array_of_numpy():
    labels = cudaccl.label(InterfaceArray(MASK))[0]
    table = cudaccl.Labeller(MASK.shape, device="cuda").device_table(InterfaceArray(MASK))
    for array in labels, table, table["area"]:
        for call in np.asarray, np.array, lambda array: np.add(array, 1):
            with pytest.raises(TypeError, match="copy_to_host"):
                call(array)


def test_calls_that_others_make():
    masks = [InterfaceArray(mask) for mask in MASKS]
    for call in cudaccl.label_batch, lambda masks: cudaccl.remove_small(masks, 3):
        for given in masks, [MASKS[0], *masks[1:]]:
            with pytest.raises(TypeError, match="a list of masks"):
                call(given)
    with pytest.raises(TypeError, match="masks > 0"):
        cudaccl.fill_holes(InterfaceArray(MASKS.astype(np.float32)), value=1)
    with pytest.raises(TypeError, match="masks > 0"):
        cudaccl.sam2.get_connected_componnets(InterfaceArray(MASKS[:, np.newaxis].astype(np.float32)))
    for found, expected in zip(cudaccl.sam2.get_connected_componnets(InterfaceArray(MASKS)),
                               cudaccl.sam2.get_connected_componnets(MASKS[:, np.newaxis])):
        assert (cudaccl.copy_to_host(found) == expected[:, 0]).all()
    labels, table = cudaccl.label(InterfaceArray(MASK))
    found = cudaccl.Tracker(MASK.shape).update(table, labels=labels)
    expected = cudaccl.Tracker(MASK.shape).update(table, labels=cudaccl.copy_to_host(labels))
    assert (found.tracks == expected.tracks).all()


@pytest.mark.parametrize("dtype", [np.int16, np.float32, np.float64])
def test_intensities_that_the_host_measures(dtype):
    labels = cudaccl.label(MASK)[0]
    values = (random.random(MASK.shape) * 100 - 50).astype(dtype)
    names = ["label", "intensity_mean", "intensity_std", "intensity_min", "centroid_weighted"]
    expected = cudaccl.regionprops_table(labels, names, intensity_image=values)
    for image in InterfaceArray(values), InterfaceArray(values, pitched=True), values, np.asfortranarray(values):
        found = cudaccl.regionprops_table(InterfaceArray(labels), image, names)
        for name, column in expected.items():  # the place of a component without weight is NaN in both
            np.testing.assert_array_equal(found[name], column, err_msg=name)


def test_where_functions_work():
    """Arrays in host memory go to the GPU that is asked for, as DeviceArray; arrays on a GPU come to the host with 'cpu'."""
    labels, table = cudaccl.label(MASK)
    grey, values = (random.random(MASK.shape) * 9).astype(np.float32), random.integers(0, 4, MASK.shape)
    masked = np.ma.masked_array(MASK, random.random(MASK.shape) < 0.3)
    cases = [(cudaccl.label, MASK, {}), (cudaccl.label, MASK.astype(bool), {"connectivity": 4}), (cudaccl.label, grey, {"threshold": 4.5}),
             (cudaccl.label, values, {"threshold": 1, "invert": True}), (cudaccl.label, VOLUME, {"connectivity": 26}),
             (cudaccl.label, MASK[::-1, ::2], {}), (cudaccl.label, masked, {"invert": True}), (cudaccl.label, MASK.tolist(), {}),
             (cudaccl.label, MASK[:0], {}), (cudaccl.components, grey, {"threshold": 1}), (cudaccl.label_batch, MASKS, {}),
             (cudaccl.label_batch, MASKS.astype(np.float64), {"threshold": 0.5}), (cudaccl.label_values, values, {}),
             (cudaccl.label_values, values.astype(np.int16), {"background": 2, "return_values": True}), (cudaccl.label_values, grey.astype(np.float16), {}),
             (cudaccl.label_values, values, {"background": None}), (cudaccl.label_values, values, {"background": 3, "tolerance": 1}),
             (cudaccl.label_values, np.ma.masked_array(values, values == 1), {}), (cudaccl.label_periodic, MASK, {"axes": 1}),
             (cudaccl.label_periodic, grey, {"axes": (0, 1), "threshold": 3}), (cudaccl.fill_label_holes, labels.astype(np.int64), {}),
             (cudaccl.clear_border, MASKS, {}), (cudaccl.clear_border, labels.astype(np.int64), {}), (cudaccl.keep_largest, VOLUME > 0, {"ndim": 3}),
             (cudaccl.keep_largest, labels, {"k": 3}), (cudaccl.distance, labels, {}), (cudaccl.distance, VOLUME.astype(bool), {"ndim": 3}), (cudaccl.split_touching, labels, {})]
    for function, given, options in cases:
        expected = function(given, **options)
        for device in "cuda", "cuda:0", 0:
            found = function(given, device=device, **options)
            for one, other in zip(found if isinstance(found, tuple) else (found,), expected if isinstance(expected, tuple) else (expected,)):
                if isinstance(one, cudaccl.DeviceArray):
                    one, other = one.copy_to_host(), np.asarray(other)
                elif isinstance(one, np.ndarray):
                    assert one.shape != np.shape(given), "a result stayed in host memory"
                np.testing.assert_array_equal(one, other, err_msg=f"{function.__name__} {options}")
        assert type(function(given, device="cpu", **options)) is type(expected)
    there = InterfaceArray(MASK)
    for function in (cudaccl.label, cudaccl.label_batch, cudaccl.label_values):
        found, expected = function(there, device="cpu"), function(MASK)
        assert type(found[0]) is np.ndarray and (found[0] == expected[0]).all()
        assert isinstance(function(there, device="cuda")[0], cudaccl.DeviceArray)
        for wrong in "cuda:7", 7:
            with pytest.raises(ValueError, match="library copies"):
                function(there, device=wrong)
        for wrong, error in (("cuda:", ValueError), ("gpu", ValueError), (1.5, TypeError), (-1, ValueError)):
            with pytest.raises(error, match="device|GPU"):
                function(MASK, device=wrong)
    assert (cudaccl.components(there, device="cpu") == table).all()
    for wrong in labels - 1, labels.astype(np.int64) << 40:
        with pytest.raises(ValueError, match="0…2³¹"):
            cudaccl.distance(wrong, device="cuda")


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float32", "float64"])
def test_copies_of_all_types(dtype):
    array = random.integers(0, 100, (3, 4)).astype(dtype)
    there = cudaccl.copy_to_device(array)
    assert there.dtype == dtype and (there.copy_to_host() == array).all() and there.copy_to_host().dtype == dtype


RANKS = ["label", "intensity_median", "intensity_quantile"]
SHARES = [0, 1 / 3, 0.95, 1]


def values_of(dtype, shape):
    """Of all magnitudes, many of them equal; of floats also zeros of both signs, infinite ones and NaN."""
    if np.dtype(dtype).kind != "f":
        bits = random.integers(0, 2**63, shape).astype(np.uint64) * 2 + random.integers(0, 2, shape).astype(np.uint64)
        return np.where(random.random(shape) < 0.5, bits, 7).astype(dtype)
    values = (random.normal(0, 1, shape) * 10.0 ** random.integers(-4, 5, shape)).astype(dtype)
    return np.where(random.random(shape) < 0.2, random.choice(np.array([0, -0.0, -0.0, 1, np.inf, -np.inf, np.nan], dtype), shape), values)


def assert_same_ranks(found, expected):
    assert list(found) == list(expected)
    for name in expected:
        assert (found[name].view(np.int64) == expected[name].view(np.int64)).all(), name


@pytest.mark.parametrize("dtype, pitched", zip(
    ["bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float32", "float64"],
    [False, True, *LAYOUTS] * 2))
def test_medians_and_quantiles_are_found_there(dtype, pitched, monkeypatch):
    """Bit for bit those of the CPU, without a copy of a plane."""
    for labels in BLOBS, CELLS:
        values = values_of(dtype, labels.shape)
        for ignore_nan in (False, True):
            options = {"ignore_nan": ignore_nan, "quantiles": SHARES}
            expected = cudaccl.regionprops_table(labels, RANKS, values, **options)
            arrays = InterfaceArray(labels.astype(np.int32), pitched), InterfaceArray(values, pitched)
            with monkeypatch.context() as patch:
                patch.setattr(cudaccl._cudaccl, "copy_view_to_host", None)
                assert_same_ranks(cudaccl.regionprops_table(arrays[0], RANKS, arrays[1], **options), expected)
            assert_same_ranks(cudaccl.regionprops_table(arrays[0], RANKS, values, **options), expected)
            assert_same_ranks(cudaccl.regionprops_table(labels, RANKS, arrays[1], **options), expected)


def test_medians_of_channels_labels_without_pixels_and_unaligned_values():
    labels, image = np.where(BLOBS % 3, BLOBS * 300, 0).astype(np.uint32), values_of("float32", (*BLOBS.shape, 3))
    options = {"ignore_nan": True, "quantiles": [0.75]}
    expected = cudaccl.regionprops_table(labels, RANKS, image, **options)
    assert_same_ranks(cudaccl.regionprops_table(InterfaceArray(labels), RANKS, InterfaceArray(image), **options), expected)
    mixed = ["intensity_mean", *RANKS]
    assert_same_columns(cudaccl.regionprops_table(InterfaceArray(labels), mixed, InterfaceArray(image), **options),
                        cudaccl.regionprops_table(labels, mixed, image, **options))
    bytes_of = np.zeros((40, 77 * 8 + 1), np.uint8)
    bytes_of[:, 1:] = values_of("float64", BLOBS.shape).view(np.uint8)
    memory = InterfaceArray(bytes_of)
    values = InterfaceArray(bytes_of[:, 1:].copy().view(np.float64), typestr="<f8", data=(memory.data + 1, False), strides=(77 * 8 + 1, 8))
    assert_same_ranks(cudaccl.regionprops_table(InterfaceArray(labels), RANKS, values, **options),
                      cudaccl.regionprops_table(labels, RANKS, bytes_of[:, 1:].copy().view(np.float64), **options))
    empty = np.zeros((4, 5), np.int32)
    assert len(cudaccl.regionprops_table(InterfaceArray(empty), RANKS, InterfaceArray(empty), quantiles=[0])["label"]) == 0
    for values, error in ((InterfaceArray(image[1:, :, 0].copy()), ValueError), (InterfaceArray(image[:, :, 0].astype("float16")), TypeError),
                          (Divided(image[:, :, 0].astype("float16")), None)):
        if error:
            with pytest.raises(error):
                cudaccl.regionprops_table(InterfaceArray(labels), RANKS, values, **options)
        else:
            assert_same_ranks(cudaccl.regionprops_table(InterfaceArray(labels), RANKS, values, **options),
                              cudaccl.regionprops_table(labels, RANKS, values.download(), **options))


def test_a_capture_is_not_broken_by_medians():
    device_arrays.enter()
    stream, graph = device_arrays.new_stream(), ctypes.c_void_p()
    map, values = InterfaceArray(BLOBS.astype(np.int32), stream=stream), InterfaceArray(BLOBS.astype(np.float32), stream=stream)
    device_arrays.call("cuStreamBeginCapture_v2", ctypes.c_void_p(stream), 0)
    with pytest.raises(ValueError, match="captured"):
        cudaccl.regionprops_table(map, RANKS, values, quantiles=[0.5])
    device_arrays.enter()
    assert device_arrays.driver.cuStreamEndCapture(ctypes.c_void_p(stream), ctypes.byref(graph)) == 0
    device_arrays.call("cuGraphDestroy", graph)


def functions_on(stream):
    """Calls of all functions that take arrays on a GPU, on a stream; nothing is kept from earlier calls."""
    cudaccl.clear_cache()
    labels, table = cudaccl.label(MASK)
    image, masks = InterfaceArray(MASK, stream=stream), InterfaceArray(MASKS, stream=stream)
    map, volume = InterfaceArray(labels, stream=stream), InterfaceArray(VOLUME, stream=stream)
    grey = InterfaceArray(MASK, stream=stream)
    labeller, model = cudaccl.Labeller(MASK.shape, device="cuda"), cudaccl.Foreground(MASK.shape, "threshold", device="cuda")
    return [lambda: cudaccl.label(image), lambda: cudaccl.components(image), lambda: cudaccl.label(volume, 26),
            lambda: cudaccl.label_batch(masks), lambda: cudaccl.fill_holes(masks), lambda: cudaccl.remove_small(masks, 3),
            lambda: cudaccl.label_values(image), lambda: cudaccl.regionprops_table(map, ["area", "intensity_mean"], intensity_image=grey),
            lambda: cudaccl.contours(image), lambda: cudaccl.rle(map), lambda: cudaccl.distance(map), lambda: cudaccl.split_touching(map),
            lambda: labeller.label(image), lambda: labeller.device_table(image), lambda: model.apply(image),
            lambda: cudaccl.Tracker(MASK.shape).update(table, labels=map), lambda: cudaccl.sam2.get_connected_componnets(masks),
            lambda: cudaccl.table_to_array(table, image), lambda: cudaccl.fill_label_holes(map), lambda: cudaccl.clear_border(map),
            lambda: cudaccl.keep_largest(map), lambda: cudaccl.adjacency(map), lambda: cudaccl.label_periodic(image, axes=(0,))]


def test_an_allocation_breaks_a_capture():
    """As on hardware, in every thread; the next test relies on it."""
    device_arrays.enter()
    stream, graph = device_arrays.new_stream(), ctypes.c_void_p()
    device_arrays.call("cuStreamBeginCapture_v2", ctypes.c_void_p(stream), 0)  # the global mode
    with pytest.raises((MemoryError, RuntimeError)):
        cudaccl.Labeller((40, 50), device="cuda")
    device_arrays.enter()
    assert device_arrays.driver.cuStreamEndCapture(ctypes.c_void_p(stream), ctypes.byref(graph)) == 901  # it is invalid
    cudaccl.Labeller((40, 50), device="cuda")


def test_captures_of_graphs_are_left_alone(monkeypatch):
    """Each function refuses a stream that is being captured before it allocates or makes anything, which would break the
    capture."""
    device_arrays.enter()
    stream = device_arrays.new_stream()
    calls = functions_on(stream)

    def made(*arguments, **options):
        raise AssertionError("something was made during a capture")

    for kind in "Labeller", "ValuesLabeller", "Batch", "MapMeasurer", "ContourFinder", "DeviceArray":
        monkeypatch.setattr(cudaccl._cudaccl, kind, made)
    monkeypatch.setattr(cudaccl._arrays, "DeviceArray", made)
    device_arrays.call("cuStreamBeginCapture_v2", ctypes.c_void_p(stream), 0)  # the global mode
    graph = ctypes.c_void_p()
    try:
        for call in calls:
            with pytest.raises(ValueError, match="captured"):
                call()
    finally:
        device_arrays.enter()
        device_arrays.call("cuStreamEndCapture", ctypes.c_void_p(stream), ctypes.byref(graph))
    device_arrays.call("cuGraphDestroy", graph)
