"""See torch."""


class Dataset:
    """The base class of imitation's data sets."""

    def __class_getitem__(cls, _):
        return cls
