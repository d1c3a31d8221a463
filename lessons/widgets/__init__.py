"""Widgets for the notebooks: the state is computed in Python, and drawn in the browser."""

from lessons.widgets.attention_explorer.widget import AttentionExplorer
from lessons.widgets.decoding_explorer.widget import DecodingExplorer
from lessons.widgets.dot_product_stepper.widget import DotProductStepper
from lessons.widgets.function_explorer.widget import explore
from lessons.widgets.function_lab.widget import FunctionLab
from lessons.widgets.head_splitter.widget import HeadSplitter
from lessons.widgets.mask_studio.widget import MaskStudio
from lessons.widgets.model_studio.widget import ModelStudio
from lessons.widgets.position_lab.widget import PositionLab
from lessons.widgets.scaling_lab.widget import ScalingLab
from lessons.widgets.shape_tour.widget import ShapeTour
from lessons.widgets.training_monitor.widget import TrainingMonitor

__all__ = [
    "AttentionExplorer",
    "DecodingExplorer",
    "DotProductStepper",
    "FunctionLab",
    "HeadSplitter",
    "MaskStudio",
    "ModelStudio",
    "PositionLab",
    "ScalingLab",
    "ShapeTour",
    "TrainingMonitor",
    "explore",
]
