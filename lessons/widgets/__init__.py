"""Widgets for the notebooks: state in Python, computed by the floors below, drawn in the browser."""

from lessons.widgets.attention_explorer import AttentionExplorer
from lessons.widgets.decoding_explorer import DecodingExplorer
from lessons.widgets.dot_product_stepper import DotProductStepper
from lessons.widgets.function_lab import FunctionLab
from lessons.widgets.head_splitter import HeadSplitter
from lessons.widgets.mask_studio import MaskStudio
from lessons.widgets.position_lab import PositionLab
from lessons.widgets.scaling_lab import ScalingLab
from lessons.widgets.shape_tour import ShapeTour
from lessons.widgets.training_monitor import TrainingMonitor

__all__ = [
    "AttentionExplorer",
    "DecodingExplorer",
    "DotProductStepper",
    "FunctionLab",
    "HeadSplitter",
    "MaskStudio",
    "PositionLab",
    "ScalingLab",
    "ShapeTour",
    "TrainingMonitor",
]
