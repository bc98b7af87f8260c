"""What the calling thread is about to pin: `.iteration` and `.batch`."""

import threading

in_hand = threading.local()
