"""Packages that samples are read and decoded by, as a host is told of them, without PyTorch: packages_test.py LIBRARY, where
LIBRARY is libloaderscope_guest.so. A package that is not here is skipped."""

import importlib
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import guest_test
import timed_test
from timed_test import WithBatch


def setUpModule():
    timed_test.LIBRARY = LIBRARY
    timed_test.setUpModule()
    from loaderscope_guest import hooks, stages

    hooks.see_imports()
    stages.install()


def tearDownModule():
    timed_test.tearDownModule()


def needed(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise unittest.SkipTest(f"there is no {name} here: {error}")


def path_of(name):
    return os.path.join(guest_test.FOLDER, name)


FRAMES, KEY_EVERY, SIZE = 48, 12, 64


def video():
    """Of FRAMES, each KEY_EVERYth of them a key frame."""
    av, numpy = needed("av"), needed("numpy")
    path = path_of("video.mp4")
    if os.path.exists(path):
        return path
    with av.open(path, "w") as out:
        stream = out.add_stream("mpeg4", rate=24)
        stream.width = stream.height = SIZE
        stream.pix_fmt, stream.gop_size = "yuv420p", KEY_EVERY
        stream.codec_context.options = {"sc_threshold": "1000000000"}  # no other ones
        for number in range(FRAMES):
            picture = numpy.full((SIZE, SIZE, 3), 4 * number, numpy.uint8)
            for packet in stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")):
                out.mux(packet)
        for packet in stream.encode():
            out.mux(packet)
    return path


class Packages(WithBatch):
    def setUp(self):
        super().setUp()
        self.names[self.library.STAGES["read.decompress"]] = "read.decompress"

    def stages_told(self):
        return {stage for stage, _ in self.told()}

    def bytes_of(self, stage):
        return sum(size for of, size in self.told() if of == stage)


class Videos(Packages):
    def setUp(self):
        super().setUp()
        from loaderscope_guest import frames

        self.frames = frames.frames
        self.frames.decoded = self.frames.used = 0
        self.path = video()
        self.told()

    def counted(self):
        return self.frames.decoded, self.frames.used

    def test_of_pyav_are_decoded_step_by_step(self):
        av = needed("av")
        with av.open(self.path) as container:
            pictures = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
        self.assertEqual(len(pictures), FRAMES)
        told = self.told()
        self.assertGreaterEqual(sum(stage == "decode" for stage, _ in told), FRAMES)
        self.assertGreaterEqual(sum(stage == "read" for stage, _ in told), FRAMES)  # each packet
        self.assertEqual(self.counted(), (FRAMES, FRAMES))

    def test_of_pyav_that_are_decoded_and_left_are_counted(self):
        av = needed("av")
        with av.open(self.path) as container:
            for number, frame in enumerate(container.decode(video=0)):
                if number == 30:
                    frame.to_image()
                    break
        decoded, used = self.counted()
        self.assertGreaterEqual(decoded, 31)
        self.assertEqual(used, 1)

    def test_of_pyav_by_packets_are_counted_once(self):
        av = needed("av")
        with av.open(self.path) as container:
            frames = [frame for packet in container.demux(video=0) for frame in packet.decode()]
        self.assertEqual((len(frames), self.counted()), (FRAMES, (FRAMES, 0)))

    def test_of_pyav_outside_a_batch_stay_as_they_are(self):
        av = needed("av")
        self.library.end_work(0)
        with av.open(self.path) as container:
            steps = container.decode(video=0)
            self.assertEqual(sum(1 for _ in steps), FRAMES)
        self.assertEqual((self.told(), self.counted()), ([], (0, 0)))

    def test_of_decord_are_counted_from_their_key_frames(self):
        decord = needed("decord")
        reader = decord.VideoReader(self.path)
        self.assertEqual(reader[30].shape, (SIZE, SIZE, 3))
        self.assertEqual(self.counted(), (7, 1))  # 24 to 30
        self.assertEqual(reader.get_batch([2, 40, 5]).shape[0], 3)
        self.assertEqual(self.counted(), (7 + 3 + 3 + 5, 4))  # 0 to 2, on to 5, 36 to 40
        self.assertEqual(self.stages_told(), {"decode"})

    def test_of_torchcodec_are_counted_from_their_key_frames(self):
        needed("torch")
        try:
            decoders = needed("torchcodec.decoders")
        except (OSError, RuntimeError) as error:
            self.skipTest(f"torchcodec finds no FFmpeg: {error}")
        decoder = decoders.VideoDecoder(self.path)
        self.told()
        for ask, counts in ((lambda: decoder.get_frame_at(30), (7, 1)),
                            (lambda: decoder.get_frames_at([2, 40, 5]), (11, 3)),
                            (lambda: decoder.get_frames_in_range(12, 18), (6, 6)),
                            (lambda: decoder.get_frame_played_at(26 / 24 + 0.01), (3, 1)),
                            (lambda: decoder.get_frames_played_at([0.0, 1 / 24 + 0.01]), (2, 2)),
                            (lambda: decoder.get_frames_played_in_range(1.0, 1.25), (6, 6)),
                            (lambda: decoder[47], (12, 1)),
                            (lambda: decoder[-2], (11, 1))):
            self.frames.decoded = self.frames.used = 0
            ask()
            self.assertEqual(self.stages_told(), {"decode"})
            self.assertEqual(self.counted(), counts)
        approximate = decoders.VideoDecoder(self.path, seek_mode="approximate")
        self.frames.decoded = self.frames.used = 0
        approximate.get_frame_at(30)
        self.assertEqual(self.counted()[1] in (0, 1), True)


class Arrays(Packages):
    def test_that_are_mapped_are_read_when_a_slice_is_copied(self):
        numpy = needed("numpy")
        numpy.arange(100_000, dtype=numpy.uint16).tofile(path_of("tokens.bin"))
        tokens = numpy.memmap(path_of("tokens.bin"), numpy.uint16, "r")
        self.told()
        copied = tokens[5000:6000].astype(numpy.int64)
        self.assertEqual((type(copied), copied[0], int(tokens[7])), (numpy.memmap, 5000, 7))
        told = self.told()
        self.assertEqual({stage for stage, _ in told}, {"read"})
        self.assertEqual(sum(size for _, size in told), 2000 + copied[:1].nbytes + 2)
        self.assertFalse("astype" in vars(numpy.ndarray) and vars(numpy.ndarray)["astype"] is vars(numpy.memmap)["astype"])

    def test_of_zarr_are_read(self):
        zarr, numpy = needed("zarr"), needed("numpy")
        made = zarr.open(path_of("array.zarr"), mode="w", shape=(1000, 64), chunks=(100, 64), dtype="f4")
        made[:] = numpy.arange(64_000, dtype="f4").reshape(1000, 64)
        self.told()
        self.assertEqual(float(made[250][3]), 16_003)
        self.assertIn("read", self.stages_told())


class Stores(Packages):
    def test_of_lmdb_are_read(self):
        lmdb = needed("lmdb")
        with lmdb.open(path_of("store.lmdb"), map_size=1 << 20) as store:
            with store.begin(write=True) as writer:
                for number in range(10):
                    writer.put(b"%d" % number, bytes(1000))
            with store.begin() as reader:
                self.assertEqual(reader.get(b"7"), bytes(1000))
                self.assertIsNone(reader.get(b"none", None))
                self.assertEqual(self.bytes_of("read"), 1000)
            with store.begin(buffers=True) as reader:
                self.assertEqual(len(reader.get(b"3")), 1000)
                self.assertEqual(self.bytes_of("read"), 1000)

    def test_of_streaming_are_read_unpacked_and_decoded(self):
        needed("torch")
        streaming = needed("streaming")
        folder = path_of("shards")
        with streaming.MDSWriter(out=folder, columns={"x": "bytes", "y": "int"}, compression="zstd") as writer:
            for number in range(20):
                writer.write({"x": bytes(1000), "y": number})
        data = streaming.StreamingDataset(local=path_of("shards.local"), remote=folder, batch_size=1)
        self.told()
        self.assertEqual(data[11]["y"], 11)
        self.assertEqual(self.stages_told(), {"read", "read.decompress", "decode"})

    def test_of_litdata_are_read_and_decoded(self):
        needed("torch")
        litdata, Cache = needed("litdata"), needed("litdata.streaming.cache").Cache
        folder = path_of("chunks")
        os.makedirs(folder, exist_ok=True)
        cache = Cache(folder, chunk_size=5)
        for number in range(20):
            cache[number] = {"x": bytes(1000), "y": number}
        cache.done()
        cache.merge()
        data = litdata.StreamingDataset(folder)
        self.told()
        self.assertEqual(data[11]["y"], 11)
        told = self.stages_told()
        self.assertLessEqual({"read", "decode"}, told)


if __name__ == "__main__":
    LIBRARY = sys.argv.pop(1)
    unittest.main()
