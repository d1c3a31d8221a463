"""python -m tools.translation: bring the catalogs up to date, and say what there is to translate."""

from lessons.wording import ENGLISH, available
from tools.translation import catalogs


def main() -> None:
    for language in available():
        for name in catalogs.names() if language != ENGLISH else []:
            fresh = catalogs.merged(language, name)
            catalogs.write(language, fresh)
            messages = [message for message in fresh if message.id]
            missing = sum(not (message.string and any(message.string)) for message in messages)
            stale = sum(message.fuzzy for message in messages)
            print(f"{language} {name}: {len(messages)} messages, {missing} missing, {stale} to look at again")


if __name__ == "__main__":
    main()
