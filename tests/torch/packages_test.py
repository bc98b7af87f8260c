"""Packages that read and decode samples, as the host sees them, without PyTorch: packages_test.py LIBRARY, where
LIBRARY is libloaderscope_guest.so. A package that is not here is skipped."""

import contextlib
import importlib
import io
import os
import pathlib
import struct
import sys
import types
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import guest_test
import timed_test
from timed_test import WithBatch


def setUpModule():
    timed_test.LIBRARY = LIBRARY
    timed_test.setUpModule()
    from loaderscope_guest import import_hooks, stages

    import_hooks.see_imports()
    stages.install()


def tearDownModule():
    timed_test.tearDownModule()


def needed(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise unittest.SkipTest(f"there is no {name} here: {error}")


def file_path(name):
    return os.path.join(guest_test.FOLDER, name)


FRAMES, KEY_EVERY, SIZE = 48, 12, 64


def video():
    """Writes a video of FRAMES frames; each KEY_EVERYth is a key frame."""
    av, numpy = needed("av"), needed("numpy")
    path = file_path("video.mp4")
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

    def stage_names(self):
        return {stage for stage, _ in self.ended_stages()}

    def stage_bytes(self, stage):
        return sum(size for name, size in self.ended_stages() if name == stage)


class Decoder:
    """Mimics torchcodec's, with 48 frames at 24 per second; each twelfth is a key frame."""

    metadata = types.SimpleNamespace(begin_stream_seconds=0.0, average_fps=24.0)

    def __len__(self):
        return 48

    def _get_key_frame_indices(self):
        return range(0, 48, 12)

    get_key_indices = _get_key_frame_indices

    def steps(self, count):
        for number in range(count):
            sent = yield bytes(number)
            if sent:
                yield sent
        return "over"

    def given(self, index):
        return index

    def copied(self):
        return bytes(1000)


class Kept(Decoder):
    """Has what its base class has."""


def box(kind, *inside):
    return struct.pack(">I4s", 8 + sum(map(len, inside)), kind) + b"".join(inside)


def mp4_header(keys, sizes):
    """The inside of `moov`. `keys`: numbers from 1."""
    sync = box(b"stss", struct.pack(f">II{len(keys)}I", 0, len(keys), *keys))
    each = box(b"stsz", struct.pack(f">III{len(sizes)}I", 0, 0, len(sizes), *sizes))
    sound = box(b"trak", box(b"mdia", box(b"hdlr", bytes(8) + b"soun"), box(b"minf", box(b"stbl"))))
    picture = box(b"mdia", box(b"hdlr", bytes(8) + b"vide"), box(b"minf", box(b"stbl", sync, each)))
    return box(b"mvhd") + sound + box(b"trak", picture)


class Substitutes(Packages):
    """Rows of the table, applied to classes of this file instead of packages."""

    def patched(self, **traits):
        """Decoder's methods by a row with these traits, until the end of the test."""
        before = dict(vars(Decoder))
        for kind in (Decoder, Kept):
            for name in ("steps", "given", "copied"):
                self.addCleanup(self.restore, kind, name, before[name] if kind is Decoder else None)
        module = types.SimpleNamespace(Decoder=Decoder, Kept=Kept)
        self.stages._patch(module, self.stages.Row("stand_in", traits.pop("names"), traits.pop("stage"), **traits))

    def restore(self, kind, name, function):
        if function is not None:
            setattr(kind, name, function)
        elif name in vars(kind):
            delattr(kind, name)

    def test_charges_each_step_of_generator(self):
        self.patched(names="Decoder.steps", stage=self.stages.READ, steps=True)
        made = []
        steps = Decoder().steps(2)
        made += [next(steps), steps.send(b"sent"), next(steps)]
        with self.assertRaises(StopIteration) as end:
            next(steps)
        self.assertEqual((made, end.exception.value), ([b"", b"sent", b"\0"], "over"))
        self.assertEqual(self.ended_stages(), [("read", 0)] * 5)  # the call and each step
        steps = Decoder().steps(2)
        next(steps)
        steps.close()
        with self.assertRaises(ValueError):
            Decoder().steps(1).throw(ValueError)

    def test_times_inherited_method_in_one_class(self):
        original = vars(Decoder)["copied"]
        self.patched(names="Kept.copied", stage=self.stages.READ, inherited=True, counts_result=False)
        self.assertEqual((len(Kept().copied()), len(Decoder().copied())), (1000, 1000))
        self.assertIs(vars(Decoder)["copied"], original)
        self.assertEqual(self.ended_stages(), [("read", 0)])

    def test_tolerates_failing_look(self):
        def look(given, decoder, index):
            seen.append((given, type(decoder), index))
            raise RuntimeError("on purpose")

        seen = []
        self.patched(names="Decoder.given", stage=self.stages.DECODE, looks=look)
        self.assertEqual((Decoder().given(3), Decoder().given(index=4)), (3, 4))
        self.assertEqual(seen, [(3, Decoder, 3), (4, Decoder, 4)])
        with self.assertRaises(TypeError):
            Decoder().given()
        self.library.end_work(0)
        Decoder().given(5)
        self.assertEqual(len(seen), 2)  # looks happen in a batch only

    def test_counts_frames_from_key_frames(self):
        from loaderscope_guest import frames

        played = lambda *places: types.SimpleNamespace(pts_seconds=[place / 24 for place in places])
        decoder = Decoder()
        for look, arguments, counted in ((frames.at_place, (None, decoder, 30), (7, 1)),
                                         (frames.at_place, (None, decoder, 32), (2, 1)),
                                         (frames.at_place, (None, decoder, 32), (9, 1)),
                                         (frames.at_places, (None, decoder, [2, 40, 5, 2]), (11, 3)),
                                         (frames.look_at_range, (None, decoder, 12, 18), (6, 6)),
                                         (frames.look_at_range, (None, decoder, -2, 48, 1), (12, 2)),
                                         (frames.at_key, (None, decoder, slice(0, 24, 12)), (2, 2)),
                                         (frames.at_key, (None, decoder, -1), (12, 1)),
                                         (frames.at_times, (played(3, 4), decoder), (5, 2)),
                                         (frames.look_at_decord, (None, decoder, [6]), (2, 1)),
                                         (frames.one_of_decord, (None, decoder, slice(0, 3)), (0, 0)),
                                         (frames.look_at_range, (None, decoder, 5, 5), (0, 0))):
            frames.frames.forget()
            look(*arguments)
            self.assertEqual((frames.frames.decoded, frames.frames.used), counted, look.__name__)


    def test_fits_time_of_access_to_decoded_frames(self):
        from loaderscope_guest import frames

        fit = frames.Fit()
        for decoded in range(1, frames._FEWEST):
            fit.add(decoded, 1000 + 50 * decoded)
        self.assertEqual(fit.slope(), 0)  # too few
        fit.add(40, 3000)
        self.assertAlmostEqual(fit.slope(), 50)
        constant = frames.Fit()
        for _ in range(100):
            constant.add(3, 1000)
        self.assertEqual(constant.slope(), 0)

    def test_reads_key_frames_from_header_of_mp4(self):
        from loaderscope_guest import video_index

        index = video_index.parse(memoryview(mp4_header(keys=[1, 4, 6], sizes=[90, 10, 10, 60, 20, 80, 30])))
        self.assertEqual(index, (7, [0, 3, 5], 230, 70))
        for damaged in (mp4_header([1, 9], [1, 2]), mp4_header([0], [1]), mp4_header([], []), b"", b"\0\0\0\4moov"):
            self.assertIsNone(video_index.parse(memoryview(damaged)))
        whole = mp4_header([1], [5])
        for end in range(len(whole)):
            with contextlib.suppress(ValueError, IndexError, struct.error):
                video_index.parse(memoryview(whole)[:end])
        path = file_path("made.mp4")
        with open(path, "wb") as file:
            file.write(struct.pack(">I4s", 16, b"mdat") + bytes(8) + struct.pack(">I4s", 8 + len(whole), b"moov") + whole)
        self.assertEqual(video_index.read(path), (1, [0], 5, 0))
        self.assertIsNone(video_index.read(file_path("missing.mp4")))
        self.assertIsNone(video_index.find_path(b"the video itself"))
        self.assertIsNone(video_index.find_path("x" * 5000))

    def test_finds_key_frames_of_approximate_decoder_in_its_file(self):
        from loaderscope_guest import frames, video_index
        from loaderscope_guest.counters import counters

        class Approximate(Decoder):
            def _get_key_frame_indices(self):
                raise RuntimeError("without a scan")

        path = file_path("approximate.mp4")
        with open(path, "wb") as file:
            header = mp4_header([1, 25], [4 if key in (0, 24) else 1 for key in range(48)])
            file.write(struct.pack(">I4s", 8 + len(header), b"moov") + header)
        frames.frames.forget()
        decoder, unknown = Approximate(), Approximate()
        with open(path, "rb") as file:
            frames.opened(decoder, video_index.find_path(file))
        frames.at_place(None, decoder, 30)
        frames.at_place(None, unknown, 30)
        self.assertEqual((frames.frames.decoded, frames.frames.used, frames.frames.seeks), (7, 1, 1))
        self.assertEqual(frames.frames.unknown, 1)
        frames.frames.put()
        values = counters._values
        self.assertEqual(values["video.key_distance"], [2 * 24 ** 2, 48])
        self.assertEqual(values["video.key_size"], [4, 1])

    def test_counts_videos_opened_again(self):
        from loaderscope_guest import opens
        from loaderscope_guest.counters import counters

        opens._videos.clear()
        counters._values.pop("video.opened_again", None)
        for source in ("a.mp4", pathlib.Path("a.mp4"), "b.mp4", io.BytesIO(b"")):
            opens.look_at_video(None, Decoder(), source)
        self.assertEqual(counters._values["video.opened_again"], [1, 4])
        self.assertEqual(counters._values["video.files"], [2, 1])

    def test_counts_videos_of_sample_in_turn(self):
        from loaderscope_guest import frames
        from loaderscope_guest.counters import counters

        counters._values.pop("video.in_turn", None)
        decoders = [Decoder(), Decoder(), Decoder()]
        turns = frames.Turns()
        for sample in range(4):
            self.maker.next_sample(sample)
            for decoder in decoders:
                turns.take(id(decoder))
                turns.take(id(decoder))
        self.assertEqual(counters._values["video.in_turn"], [9, 3])  # the last sample may continue

    def test_counts_frames_that_lerobot_asks_pyav_for(self):
        from loaderscope_guest import frames

        class VideoFrame:
            pass

        frames.frames.forget()
        frames.access.end("a.mp4")
        decode = frames.decoding(VideoFrame)
        for _ in range(9):
            decode()
            frames.used()
        self.assertEqual(frames.asked_by_lerobot(None, "a.mp4", [0.2, 0.3]), 9)
        self.assertEqual((frames.frames.decoded, frames.frames.used, frames.frames.seeks), (9, 2, 1))


class Videos(Packages):
    def setUp(self):
        super().setUp()
        from loaderscope_guest import frames

        self.frames = frames.frames
        self.frames.decoded = self.frames.used = 0
        self.path = video()
        self.ended_stages()

    def counted(self):
        return self.frames.decoded, self.frames.used

    def test_counts_each_step_of_pyav(self):
        av = needed("av")
        with av.open(self.path) as container:
            pictures = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
        self.assertEqual(len(pictures), FRAMES)
        stages = self.ended_stages()
        self.assertGreaterEqual(sum(stage == "decode" for stage, _ in stages), FRAMES)
        self.assertGreaterEqual(sum(stage == "read" for stage, _ in stages), FRAMES)  # each packet
        self.assertEqual(self.counted(), (FRAMES, FRAMES))

    def test_counts_unused_frames_of_pyav(self):
        av = needed("av")
        with av.open(self.path) as container:
            for number, frame in enumerate(container.decode(video=0)):
                if number == 30:
                    frame.to_image()
                    break
        decoded, used = self.counted()
        self.assertGreaterEqual(decoded, 31)
        self.assertEqual(used, 1)

    def test_counts_frames_of_pyav_packets_once(self):
        av = needed("av")
        with av.open(self.path) as container:
            frames = [frame for packet in container.demux(video=0) for frame in packet.decode()]
        self.assertEqual((len(frames), self.counted()), (FRAMES, (FRAMES, 0)))

    def test_ignores_pyav_outside_batch(self):
        av = needed("av")
        self.library.end_work(0)
        with av.open(self.path) as container:
            steps = container.decode(video=0)
            self.assertEqual(sum(1 for _ in steps), FRAMES)
        self.assertEqual((self.ended_stages(), self.counted()), ([], (0, 0)))

    def test_counts_frames_of_decord_from_key_frames(self):
        decord = needed("decord")
        reader = decord.VideoReader(self.path)
        self.assertEqual(reader[30].shape, (SIZE, SIZE, 3))
        self.assertEqual(self.counted(), (7, 1))  # 24 to 30
        self.assertEqual(reader.get_batch([2, 40, 5]).shape[0], 3)
        self.assertEqual(self.counted(), (7 + 3 + 3 + 5, 4))  # 0 to 2, on to 5, 36 to 40
        self.assertEqual(self.stage_names(), {"decode"})

    def test_counts_frames_of_torchcodec_from_key_frames(self):
        needed("torch")
        try:
            decoders = needed("torchcodec.decoders")
        except (OSError, RuntimeError) as error:
            self.skipTest(f"torchcodec finds no FFmpeg: {error}")
        decoder = decoders.VideoDecoder(self.path)
        self.ended_stages()
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
            self.assertEqual(self.stage_names(), {"decode"})
            self.assertEqual(self.counted(), counts)
        approximate = decoders.VideoDecoder(self.path, seek_mode="approximate")
        self.frames.decoded = self.frames.used = 0
        approximate.get_frame_at(30)
        self.assertEqual(self.counted()[1] in (0, 1), True)


class Arrays(Packages):
    def test_counts_read_of_copied_memmap_slice(self):
        numpy = needed("numpy")
        numpy.arange(100_000, dtype=numpy.uint16).tofile(file_path("tokens.bin"))
        tokens = numpy.memmap(file_path("tokens.bin"), numpy.uint16, "r")
        self.ended_stages()
        copied = tokens[5000:6000].astype(numpy.int64)
        self.assertEqual((type(copied), copied[0], int(tokens[7])), (numpy.memmap, 5000, 7))
        stages = self.ended_stages()
        self.assertEqual({stage for stage, _ in stages}, {"read"})
        self.assertEqual(sum(size for _, size in stages), 2000 + copied[:1].nbytes + 2)
        self.assertFalse("astype" in vars(numpy.ndarray) and vars(numpy.ndarray)["astype"] is vars(numpy.memmap)["astype"])

    def test_times_reads_of_zarr(self):
        zarr, numpy = needed("zarr"), needed("numpy")
        made = zarr.open(file_path("array.zarr"), mode="w", shape=(1000, 64), chunks=(100, 64), dtype="f4")
        made[:] = numpy.arange(64_000, dtype="f4").reshape(1000, 64)
        self.ended_stages()
        self.assertEqual(float(made[250][3]), 16_003)
        self.assertIn("read", self.stage_names())


class Stores(Packages):
    def test_counts_bytes_of_lmdb(self):
        lmdb = needed("lmdb")
        with lmdb.open(file_path("store.lmdb"), map_size=1 << 20) as store:
            with store.begin(write=True) as writer:
                for number in range(10):
                    writer.put(b"%d" % number, bytes(1000))
            with store.begin() as reader:
                self.assertEqual(reader.get(b"7"), bytes(1000))
                self.assertIsNone(reader.get(b"none", None))
                self.assertEqual(self.stage_bytes("read"), 1000)
            with store.begin(buffers=True) as reader:
                self.assertEqual(len(reader.get(b"3")), 1000)
                self.assertEqual(self.stage_bytes("read"), 1000)

    def test_times_stages_of_streaming(self):
        needed("torch")
        streaming = needed("streaming")
        folder = file_path("shards")
        with streaming.MDSWriter(out=folder, columns={"x": "bytes", "y": "int"}, compression="zstd") as writer:
            for number in range(20):
                writer.write({"x": bytes(1000), "y": number})
        data = streaming.StreamingDataset(local=file_path("shards.local"), remote=folder, batch_size=1)
        self.ended_stages()
        self.assertEqual(data[11]["y"], 11)
        self.assertEqual(self.stage_names(), {"read", "read.decompress", "decode"})

    def test_times_stages_of_litdata(self):
        needed("torch")
        litdata, Cache = needed("litdata"), needed("litdata.streaming.cache").Cache
        folder = file_path("chunks")
        os.makedirs(folder, exist_ok=True)
        cache = Cache(folder, chunk_size=5)
        for number in range(20):
            cache[number] = {"x": bytes(1000), "y": number}
        cache.done()
        cache.merge()
        data = litdata.StreamingDataset(folder)
        self.ended_stages()
        self.assertEqual(data[11]["y"], 11)
        stages = self.stage_names()
        self.assertLessEqual({"read", "decode"}, stages)


if __name__ == "__main__":
    LIBRARY = sys.argv.pop(1)
    unittest.main()
