"""Audio: .wav files that become spectrograms. No workers, a GPU step of 30 ms."""
import time
import wave

import numpy as np
import torch
import training
from torch.utils.data import DataLoader, Dataset

RATE = 16_000


def make(folder):
    noise = np.random.default_rng(0)
    for number in range(128):
        tone = np.sin(np.arange(2 * RATE) * (0.02 + 0.001 * number)) * 8000 + noise.normal(0, 500, 2 * RATE)
        with wave.open(str(folder / f"{number:03}.wav"), "wb") as file:
            file.setparams((1, 2, RATE, 0, "NONE", ""))
            file.writeframes(tone.astype("<i2").tobytes())


class Sounds(Dataset):
    def __init__(self, folder):
        self.files = sorted(folder.glob("*.wav"))
        self.window = torch.hann_window(512)

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        with wave.open(str(self.files[index])) as file:
            sound = np.frombuffer(file.readframes(file.getnframes()), dtype="<i2")
        sound = torch.from_numpy(sound.astype(np.float32) / 32768)
        spectrum = torch.stft(sound, 512, 128, window=self.window, return_complex=True).abs()
        return torch.log1p(spectrum)[:, :200], index % 10


torch.set_num_threads(1)
flags = training.parse(batch_size=32)
data = Sounds(training.folder(flags, make))
loader = DataLoader(data, shuffle=True, drop_last=True, **training.settings(flags))
clock = training.Clock(flags)
for epoch in range(flags.epochs):
    for spectra, labels in loader:
        time.sleep(0.030)  # the GPU trains
    clock.end_epoch(len(loader) * flags.batch_size)
