"""Data to learn from, made by rules or read from a file of sentence pairs; each task is a `Task`.

Reversal        a b c → c b a                                           difficulty 1
Dates           3 March 2024 → 2024-03-03                               difficulty 2
Numerals        three hundred and five → 三百零五                       difficulty 3
Translation     I ate a cake at home yesterday. → 我昨天在家吃了一个蛋糕。    difficulty 4
SentencePairs   a file of your own, in lessons.tasks.sentence_pairs     difficulty 5
"""

from lessons.tasks.dates import Dates
from lessons.tasks.numerals import Numerals
from lessons.tasks.reversal import Reversal
from lessons.tasks.task import Batch, Task
from lessons.tasks.translation import Translation

__all__ = ["Batch", "Dates", "Numerals", "Reversal", "Task", "Translation"]
