"""Hooked functions and their stages, a row each. A row costs nothing if its module is never imported. A function that
this version of the module lacks is left out, and its time remains `opaque`."""

from typing import Any, Callable, NamedTuple, Optional, Tuple

from loaderscope_guest import chunks, frames, gpu_stages, images, opens
from loaderscope_guest.library import STAGES

READ, DECOMPRESS, DECODE, AUGMENT, COLLATE = (
    STAGES[name] for name in ("read", "read.decompress", "decode", "augment", "collate")
)


class Row(NamedTuple):
    module: str
    names: str  # functions or CLASS.METHOD, separated by spaces
    stage: int
    outermost: bool = False  # a part of whatever stage it is called in
    entries: bool = False  # a Compose: its calls are distinguished by name
    steps: bool = False  # the function returns a generator, and each of its steps belongs to the stage
    inherited: bool = False  # hooked in this class alone, although its base class defines it
    counts_result: bool = True  # a read: the size of its result is the number of bytes
    called: str = ""  # a part of the stage, which no delay is injected into; "": by its module and name
    looks: Optional[Callable[..., Any]] = None  # receives the result in a batch, and then the arguments
    watches: Optional[Callable[..., Callable[..., Any]]] = None  # makes what is called in its place in a batch
    times: Optional[Callable[[Any, int], None]] = None  # receives what `looks` returns, and the time of the call in ns
    step_call: Optional[Callable[..., Callable[..., Any]]] = None  # makes what a thread that trains calls in its place
    only_in_step: bool = False  # not timed in a batch, where it is a part of another function's time


TABLE: Tuple[Row, ...] = (
    Row("PIL.Image", "open", DECODE, looks=images.look_at_image),
    Row("PIL.ImageFile", "ImageFile.load", DECODE),
    Row("PIL.Image", "Image.convert Image.draft Image.load", DECODE, outermost=True),
    Row("PIL.Image", "Image.resize Image.crop Image.transpose Image.rotate Image.transform Image.filter "
        "Image.thumbnail", AUGMENT, outermost=True),
    Row("torchvision.io.image", "read_file", READ),
    Row("torchvision.io.image", "read_image decode_image decode_png decode_webp decode_gif", DECODE),
    Row("torchvision.io.image", "decode_jpeg", DECODE, step_call=gpu_stages.decoding),
    Row("torchvision.io.video", "read_video", DECODE),
    Row("torchcodec.decoders._video_decoder", "VideoDecoder.__init__", DECODE, called="opening videos (torchcodec)",
        looks=opens.look_at_video),
    Row("torchcodec.decoders._video_decoder", "VideoDecoder.get_all_frames", DECODE),
    Row("torchcodec.decoders._video_decoder", "VideoDecoder.__getitem__", DECODE, looks=frames.at_key, times=frames.took),
    Row("torchcodec.decoders._video_decoder", "VideoDecoder.get_frame_at", DECODE, looks=frames.at_place,
        times=frames.took),
    Row("torchcodec.decoders._video_decoder", "VideoDecoder.get_frames_at", DECODE, looks=frames.at_places,
        times=frames.took),
    Row("torchcodec.decoders._video_decoder", "VideoDecoder.get_frames_in_range", DECODE, looks=frames.look_at_range,
        times=frames.took),
    Row("torchcodec.decoders._video_decoder", "VideoDecoder.get_frame_played_at VideoDecoder.get_frames_played_at "
        "VideoDecoder.get_frames_played_in_range", DECODE, looks=frames.at_times, times=frames.took),
    Row("torchcodec.decoders._image_decoders", "decode_image decode_jpeg decode_png decode_webp decode_gif decode_avif "
        "decode_heic", DECODE, step_call=gpu_stages.decoding),
    Row("torchcodec.decoders._audio_decoder", "AudioDecoder.__init__ AudioDecoder.get_all_samples "
        "AudioDecoder.get_samples_played_in_range", DECODE),
    Row("av.container.core", "open", DECODE, called="opening videos (av.open)", looks=opens.look_at_container),
    Row("av.container.input", "InputContainer.demux", READ, steps=True),
    Row("av.container.input", "InputContainer.seek", READ, counts_result=False, looks=frames.begins),
    Row("av.container.input", "InputContainer.decode", DECODE, steps=True, watches=frames.decoding),
    Row("av.packet", "Packet.decode", DECODE, watches=frames.decoding),
    Row("av.video.stream", "VideoStream.decode", DECODE, watches=frames.decoding),
    Row("av.codec.context", "CodecContext.decode", DECODE, watches=frames.decoding),
    Row("av.video.frame", "VideoFrame.to_ndarray VideoFrame.to_image", DECODE, outermost=True, looks=frames.used,
        times=frames.took_part),
    Row("av.video.frame", "VideoFrame.reformat VideoFrame.to_rgb", DECODE, outermost=True),
    Row("av.audio.frame", "AudioFrame.to_ndarray", DECODE, outermost=True),
    Row("av.audio.resampler", "AudioResampler.resample", DECODE, outermost=True),
    Row("decord.video_reader", "VideoReader.__init__", DECODE, called="opening videos (decord)",
        looks=opens.look_at_video),
    Row("decord.video_reader", "VideoReader.seek VideoReader.seek_accurate VideoReader.next VideoReader.skip_frames",
        DECODE),
    Row("decord.video_reader", "VideoReader.get_batch", DECODE, looks=frames.look_at_decord, times=frames.took),
    Row("decord.video_reader", "VideoReader.__getitem__", DECODE, looks=frames.one_of_decord, times=frames.took),
    Row("lerobot.datasets.video_utils", "decode_video_frames_torchcodec", DECODE),
    Row("lerobot.datasets.video_utils", "decode_video_frames_pyav", DECODE, looks=frames.asked_by_lerobot,
        times=frames.took),
    Row("torchaudio", "load", DECODE),
    Row("soundfile", "read", DECODE),
    Row("cv2", "imread imdecode", DECODE),
    Row("cv2", "resize warpAffine warpPerspective remap flip cvtColor GaussianBlur", AUGMENT, outermost=True),
    Row("simplejpeg", "decode_jpeg", DECODE),
    Row("turbojpeg", "TurboJPEG.decode", DECODE),
    Row("imageio.v2", "imread", DECODE),
    Row("imageio.v3", "imread", DECODE),
    Row("torchvision.transforms.transforms", "Compose.__call__", AUGMENT, entries=True),
    Row("torchvision.transforms.v2._container", "Compose.forward", AUGMENT, entries=True,
        step_call=gpu_stages.augmenting),
    Row("torchvision.transforms.v2._container", "RandomApply.forward RandomChoice.forward RandomOrder.forward", AUGMENT,
        step_call=gpu_stages.augmenting, only_in_step=True),
    Row("torchvision.transforms.v2._transform", "Transform.forward _RandomApplyTransform.forward", AUGMENT,
        step_call=gpu_stages.augmenting, only_in_step=True),
    Row("torchvision.transforms.v2._auto_augment", "AutoAugment.forward RandAugment.forward TrivialAugmentWide.forward "
        "AugMix.forward", AUGMENT, step_call=gpu_stages.augmenting, only_in_step=True),
    Row("torchvision.transforms.v2._augment", "_BaseMixUpCutMix.forward", AUGMENT, step_call=gpu_stages.augmenting,
        only_in_step=True),
    Row("torchvision.transforms.functional", "to_tensor pil_to_tensor normalize resize crop center_crop resized_crop "
        "hflip vflip pad rotate affine", AUGMENT, outermost=True),
    Row("albumentations.core.composition", "Compose.__call__", AUGMENT, entries=True),
    Row("monai.transforms.compose", "Compose.__call__", AUGMENT, entries=True),
    Row("torch_geometric.transforms.compose", "Compose.forward", AUGMENT, entries=True),
    Row("audiomentations.core.composition", "Compose.__call__", AUGMENT, entries=True),
    Row("torchio.transforms.augmentation.composition", "Compose.apply_transform", AUGMENT, entries=True),
    Row("kornia.augmentation.container.augment", "AugmentationSequential.forward", AUGMENT,
        step_call=gpu_stages.augmenting),
    Row("transformers.tokenization_utils_base", "PreTrainedTokenizerBase.__call__", AUGMENT),
    Row("tokenizers", "Tokenizer.encode Tokenizer.encode_batch", AUGMENT, outermost=True),
    Row("tiktoken.core", "Encoding.encode Encoding.encode_ordinary", AUGMENT),
    Row("numpy", "load fromfile loadtxt genfromtxt", READ),
    Row("pyarrow.parquet", "read_table", READ),
    Row("pyarrow.parquet.core", "ParquetFile.read ParquetFile.read_row_group ParquetFile.read_row_groups", READ),
    Row("pyarrow.feather", "read_table", READ),
    Row("pyarrow.lib", "NativeFile.read NativeFile.read_at NativeFile.readall NativeFile.read_buffer "
        "_RecordBatchFileReader.read_all _RecordBatchFileReader.get_batch RecordBatchReader.read_all "
        "RecordBatchReader.read_next_batch", READ, outermost=True),
    Row("pyarrow.lib", "_Tabular.to_pydict _Tabular.to_pylist Table.to_pydict Table.to_pylist", DECODE, outermost=True),
    Row("pyarrow._dataset", "Dataset.to_table Dataset.take Dataset.head Scanner.to_table Scanner.take", READ),
    Row("pandas.io.parquet", "read_parquet", READ),
    Row("pandas.core.indexing", "_LocationIndexer.__getitem__ _ScalarAccessIndexer.__getitem__", DECODE,
        called="pandas rows (.iloc, .loc, .at)"),
    Row("pandas.core.series", "Series.__getitem__ Series.drop Series.to_dict", DECODE,
        called="pandas rows (.iloc, .loc, .at)"),
    Row("datasets.arrow_dataset", "Dataset.__getitem__ Dataset.__getitems__", READ),
    Row("datasets.arrow_dataset", "format_table", DECODE),
    Row("h5py._hl.files", "File.__init__", READ, counts_result=False, called="opening h5py.File", looks=opens.look_at_file),
    Row("pyarrow.parquet.core", "ParquetFile.__init__", READ, counts_result=False, called="opening ParquetFile",
        looks=opens.look_at_file),
    Row("zipfile", "ZipFile.__init__", READ, counts_result=False, called="opening zipfile.ZipFile", looks=opens.look_at_file),
    Row("tarfile", "TarFile.__init__", READ, counts_result=False, called="opening tarfile.TarFile", looks=opens.look_at_file),
    Row("h5py._hl.dataset", "Dataset.__getitem__", READ, looks=chunks.look_at_hdf5),
    Row("zarr.core", "Array.__getitem__", READ),
    Row("zarr.core.array", "Array.__getitem__ Array.get_basic_selection Array.get_orthogonal_selection "
        "Array.get_coordinate_selection Array.get_mask_selection Array.get_block_selection", READ),
    Row("numpy._core.memmap", "memmap.__getitem__", READ),
    Row("numpy.core.memmap", "memmap.__getitem__", READ),
    # The pages of a slice are read when it is copied.
    Row("numpy._core.memmap", "memmap.astype memmap.copy memmap.tobytes memmap.tolist memmap.take", READ, inherited=True,
        counts_result=False),
    Row("numpy.core.memmap", "memmap.astype memmap.copy memmap.tobytes memmap.tolist memmap.take", READ, inherited=True,
        counts_result=False),
    Row("lmdb.cpython", "Transaction.get Cursor.get Cursor.value Cursor.item Cursor.getmulti", READ),
    Row("lmdb.cffi", "Transaction.get Cursor.get Cursor.value Cursor.item Cursor.getmulti", READ),
    Row("streaming.base.dataset", "StreamingDataset.prepare_shard", READ, counts_result=False),
    Row("streaming.base.stream", "Stream.prepare_shard", READ, counts_result=False),
    Row("streaming.base.compression", "decompress", DECOMPRESS),
    Row("streaming.base.format.mds.reader", "MDSReader.get_sample_data", READ),
    Row("streaming.base.format.mds.reader", "MDSReader.decode_sample", DECODE),
    Row("streaming.base.format.json.reader", "JSONReader.get_sample_data", READ),
    Row("streaming.base.format.json.reader", "JSONReader.decode_sample", DECODE),
    Row("streaming.base.format.xsv.reader", "XSVReader.get_sample_data", READ),
    Row("streaming.base.format.xsv.reader", "XSVReader.decode_sample", DECODE),
    Row("litdata.streaming.reader", "BinaryReader.read", READ, counts_result=False),
    Row("litdata.streaming.item_loader", "PyTreeLoader._load_data PyTreeLoader._slice_item_bytes "
        "TokensLoader.load_item_from_chunk", READ),
    Row("litdata.streaming.item_loader", "PyTreeLoader.deserialize PyTreeLoader.mds_deserialize "
        "PyTreeLoader._batch_deserialize_payload PyTreeLoader._fill_framed_window "
        "PyTreeLoader._try_arrow_footer_rows", DECODE),
    Row("litdata.streaming.compression", "ZSTDCompressor.decompress", DECOMPRESS),
    Row("fsspec.spec", "AbstractBufferedFile.read AbstractFileSystem.cat_file", READ),
    Row("botocore.response", "StreamingBody.read", READ),
    Row("requests.sessions", "Session.send", READ),
    Row("urllib3.connectionpool", "HTTPConnectionPool.urlopen", READ, counts_result=False),
    Row("http.client", "HTTPConnection.request HTTPConnection.getresponse", READ, counts_result=False),
    Row("http.client", "HTTPResponse.read HTTPResponse.read1 HTTPResponse.readinto", READ),
    Row("httpx._client", "Client.send", READ, counts_result=False),
    Row("fsspec.asyn", "sync", READ),
    Row("s3torchconnector._s3client._s3client", "S3Client.get_object S3Client.head_object", READ, counts_result=False),
    Row("s3torchconnector.s3reader.sequential", "SequentialS3Reader.read SequentialS3Reader.readinto", READ),
    Row("s3torchconnector.s3reader.ranged", "RangedS3Reader.read RangedS3Reader.readinto", READ),
    Row("s3torchconnector.s3reader.dcp_optimized", "DCPOptimizedS3Reader.read DCPOptimizedS3Reader.readinto", READ),
    Row("webdataset.gopen", "Pipe.read Pipe.readline", READ),
    Row("webdataset.autodecode", "Decoder.decode1", DECODE),
    Row("torch.storage", "_StorageBase._new_shared", COLLATE, called="making shared memory for the batch"),
    Row("fastai.data.load", "fa_collate fa_convert", COLLATE, outermost=True),
    Row("tarfile", "TarFile.next _FileInFile.read _FileInFile.readinto", READ),
    Row("zlib", "decompress", DECOMPRESS),
    Row("gzip", "decompress GzipFile.read", DECOMPRESS),
    Row("lzma", "decompress", DECOMPRESS),
    Row("bz2", "decompress", DECOMPRESS),
    Row("zstandard.backend_c", "ZstdDecompressor.decompress", DECOMPRESS),
    Row("lz4.frame", "decompress", DECOMPRESS),
    Row("lz4.block", "decompress", DECOMPRESS),
    Row("numcodecs.blosc", "Blosc.decode", DECOMPRESS),
    Row("numcodecs.zstd", "Zstd.decode", DECOMPRESS),
    Row("numcodecs.lz4", "LZ4.decode", DECOMPRESS),
    Row("numcodecs.zlib", "Zlib.decode", DECOMPRESS),
    Row("numcodecs.gzip", "GZip.decode", DECOMPRESS),
)
