"""The words of the small English and Chinese grammar, as tables: one entry per line, columns separated by "|".

A verb goes with the nouns and places of its classes; an adjective goes with the nouns of its class.
"""

from typing import NamedTuple


class Phrase(NamedTuple):
    """Some words in English and in Chinese, separated by blanks."""

    en: str
    zh: str


class Person(NamedTuple):
    """third: third person singular, with "does" and "buys". head: the word that identifies the person."""

    en: str
    zh: str
    third: bool
    head: str


class Noun(NamedTuple):
    """many: the plural. measure: the Chinese measure word. Both are "" for a noun that isn't counted."""

    one: str
    many: str
    zh: str
    measure: str
    classes: frozenset[str]


class Verb(NamedTuple):
    base: str
    third: str
    past: str
    zh: str
    classes: frozenset[str]
    places: frozenset[str]


def _rows(table: str) -> list[list[str]]:
    return [[column.strip() for column in line.split("|")] for line in table.strip().splitlines()]


def _phrases(table: str) -> list[Phrase]:
    return [Phrase(*(column.strip() for column in entry.split("|"))) for entry in table.replace("\n", ";").split(";")]


_NOUNS = """
    book | books | 书 | 本 | text written new costly
    novel | novels | 小说 | 本 | text written new
    magazine | magazines | 杂志 | 本 | text new
    newspaper | newspapers | 报纸 | 份 | text
    letter | letters | 信 | 封 | text written
    map | maps | 地图 | 张 | text drawn new sized
    pen | pens | 笔 | 支 | tool new costly colored
    umbrella | umbrellas | 雨伞 | 把 | tool machine new costly colored sized
    computer | computers | 电脑 | 台 | tool machine new costly
    camera | cameras | 照相机 | 台 | tool machine new costly
    phone | phones | 手机 | 部 | tool machine new costly
    cup | cups | 杯子 | 个 | tool washed new costly colored sized
    car | cars | 汽车 | 辆 | vehicle machine washed drawn new costly colored
    bicycle | bicycles | 自行车 | 辆 | vehicle machine washed drawn new costly colored
    table | tables | 桌子 | 张 | furniture machine drawn new costly sized
    chair | chairs | 椅子 | 把 | furniture machine drawn new costly sized
    bed | beds | 床 | 张 | furniture machine new costly sized
    shirt | shirts | 衬衫 | 件 | clothes washed new costly colored
    coat | coats | 大衣 | 件 | clothes washed new costly colored
    skirt | skirts | 裙子 | 条 | clothes washed new costly colored
    hat | hats | 帽子 | 顶 | head washed new costly colored
    watch | watches | 手表 | 块 | head machine new costly
    cat | cats | 猫 | 只 | animal drawn sized
    dog | dogs | 狗 | 只 | animal drawn sized
    bird | birds | 鸟 | 只 | animal drawn sized
    horse | horses | 马 | 匹 | animal drawn sized
    flower | flowers | 花 | 朵 | plant drawn colored
    tree | trees | 树 | 棵 | drawn sized
    apple | apples | 苹果 | 个 | food washed drawn sized
    orange | oranges | 橙子 | 个 | food washed drawn sized
    banana | bananas | 香蕉 | 根 | food drawn sized
    cake | cakes | 蛋糕 | 个 | food made sized
    bread | | 面包 | | food made
    rice | | 米饭 | | food made
    noodles | | 面条 | | food made
    dumplings | | 饺子 | | food made
    soup | | 汤 | | drink made
    tea | | 茶 | | drink
    coffee | | 咖啡 | | drink
    water | | 水 | | drink
    milk | | 牛奶 | | drink
    juice | | 果汁 | | drink
    Chinese | | 中文 | | subject
    English | | 英文 | | subject
    French | | 法文 | | subject
    history | | 历史 | | subject
    mathematics | | 数学 | | subject
    music | | 音乐 | | subject
"""
NOUNS = [Noun(one, many, zh, measure, frozenset(classes.split())) for one, many, zh, measure, classes in _rows(_NOUNS)]

_VERBS = """
    buy | buys | bought | 买 | text tool vehicle furniture clothes head animal plant food drink | trade
    sell | sells | sold | 卖 | text tool vehicle furniture clothes head animal plant food drink | trade
    read | reads | read | 看 | text | room open
    write | writes | wrote | 写 | written | room open
    send | sends | sent | 寄 | text tool clothes head | room
    borrow | borrows | borrowed | 借 | text tool vehicle | room
    use | uses | used | 用 | tool vehicle | room open
    repair | repairs | repaired | 修 | machine | open trade
    draw | draws | drew | 画 | drawn | open
    wash | washes | washed | 洗 | washed | meal open
    clean | cleans | cleaned | 擦 | furniture vehicle tool | meal
    eat | eats | ate | 吃 | food | room meal open
    make | makes | made | 做 | made clothes | meal
    drink | drinks | drank | 喝 | drink | room meal open
    wear | wears | wore | 穿 | clothes | room open trade
    wear | wears | wore | 戴 | head | room open trade
    feed | feeds | fed | 喂 | animal | open
    learn | learns | learned | 学 | subject | room
    teach | teaches | taught | 教 | subject | room
"""
VERBS = [
    Verb(base, third, past, zh, frozenset(classes.split()), frozenset([*places.split(), "city"]))
    for base, third, past, zh, classes, places in _rows(_VERBS)
]

_ADJECTIVES = """
    new | 新 | new
    old | 旧 | new
    big | 大 | sized
    small | 小 | sized
    expensive | 贵 的 | costly
    cheap | 便宜 的 | costly
    red | 红色 的 | colored
    white | 白色 的 | colored
    yellow | 黄色 的 | colored
"""
ADJECTIVES = {noun: [Phrase(en, zh) for en, zh, kind in _rows(_ADJECTIVES) if kind in noun.classes] for noun in NOUNS}

_PLACES = """
    in Beijing | 北京 | city
    in Shanghai | 上海 | city
    in London | 伦敦 | city
    in Paris | 巴黎 | city
    in China | 中国 | city
    at home | 家 | room meal open
    at school | 学校 | room
    in the library | 图书馆 | room
    in the office | 办公室 | room
    in the hospital | 医院 | room
    in the hotel | 酒店 | room meal
    in the kitchen | 厨房 | meal
    in the restaurant | 餐厅 | meal
    in the park | 公园 | open
    in the garden | 花园 | open
    in the village | 村子 里 | open
    at the shop | 商店 | trade
    at the market | 市场 | trade
    at the station | 车站 | trade
    at the airport | 机场 | trade
"""
PLACES = {
    verb: [Phrase(en, f"在 {zh}") for en, zh, kinds in _rows(_PLACES) if verb.places & set(kinds.split())]
    for verb in VERBS
}

_PRONOUNS = """
    I | 我 | my
    you | 你 | your
    he | 他 | his
    she | 她 | her
    we | 我们 | our
    they | 他们 | their
"""
PRONOUNS = [Person(en, zh, en in ("he", "she"), en) for en, zh, _ in _rows(_PRONOUNS)]
POSSESSIVES = [Phrase(possessive, zh) for _, zh, possessive in _rows(_PRONOUNS)]
NAMES = _phrases(
    """Tom | 汤姆; Anna | 安娜; Peter | 彼得; Mary | 玛丽; Lucy | 露西; David | 大卫; Linda | 琳达; Jack | 杰克
    Mike | 迈克"""
)
ROLES = _phrases(
    """doctor | 医生; nurse | 护士; teacher | 老师; student | 学生; driver | 司机; manager | 经理; cook | 厨师
    singer | 歌手; farmer | 农民; policeman | 警察; lawyer | 律师"""
)
RELATIVES = _phrases(
    """friend | 朋友; mother | 妈妈; father | 爸爸; older brother | 哥哥; younger brother | 弟弟; older sister | 姐姐
    younger sister | 妹妹; grandfather | 爷爷; grandmother | 奶奶; colleague | 同事; classmate | 同学
    neighbor | 邻居; son | 儿子; daughter | 女儿"""
)
NAMED = [Person(en, zh, True, en) for en, zh in NAMES]
WITH_THE = [Person(f"the {en}", zh, True, en) for en, zh in ROLES]
RELATED = [Person(f"{whose.en} {en}", f"{whose.zh} {zh}", True, en) for whose in POSSESSIVES for en, zh in RELATIVES]
OTHERS = [NAMED, WITH_THE, RELATED]  # everybody except pronouns

NUMBERS = _phrases("two | 两; three | 三; four | 四; five | 五; six | 六; seven | 七; eight | 八; nine | 九; ten | 十")
_PARTS_OF_DAY = _phrases("morning | 早上; afternoon | 下午; evening | 晚上")
_DAYS = _phrases(
    """Monday | 周一; Tuesday | 周二; Wednesday | 周三; Thursday | 周四; Friday | 周五; Saturday | 周六
    Sunday | 周日; week | 周"""
)


def _times(day: Phrase, which: Phrase, more: str) -> list[list[Phrase]]:
    """Three lists: yesterday morning, …; last Monday, …; others."""
    parts = [Phrase(f"{day.en} {en}", f"{day.zh} {zh}") for en, zh in _PARTS_OF_DAY]
    return [parts, [Phrase(f"{which.en} {en}", f"{which.zh} {zh}") for en, zh in _DAYS], _phrases(more)]


TIMES = {
    "past": _times(
        Phrase("yesterday", "昨天"), Phrase("last", "上"), "yesterday | 昨天; last month | 上 个 月; last year | 去年"
    ),
    "future": _times(
        Phrase("tomorrow", "明天"), Phrase("next", "下"), "tomorrow | 明天; next month | 下 个 月; next year | 明年"
    ),
    "habit": _times(Phrase("every", "每天"), Phrase("every", "每"), "every day | 每天; every month | 每 个 月"),
}
USUAL_TIMES = [Phrase(f"in the {en}", zh) for en, zh in _PARTS_OF_DAY]
