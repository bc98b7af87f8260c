"""transformers' Trainer with a folder of images and a small vision transformer: FOLDER cpu|gpu."""
import sys

import torch
from torchvision import datasets, transforms
from transformers import Trainer, TrainingArguments, ViTConfig, ViTForImageClassification

crop = transforms.Compose([transforms.RandomResizedCrop(64), transforms.ToTensor()])
images = datasets.ImageFolder(f"{sys.argv[1]}/train", crop)
model = ViTForImageClassification(ViTConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
                                            intermediate_size=64, image_size=64, num_labels=10))


def collate(samples):
    return {"pixel_values": torch.stack([image for image, _ in samples]),
            "labels": torch.tensor([label for _, label in samples])}


Trainer(model, TrainingArguments("out", per_device_train_batch_size=16, num_train_epochs=100, use_cpu=sys.argv[2] == "cpu",
                                 save_strategy="no", report_to=[]), train_dataset=images, data_collator=collate).train()
