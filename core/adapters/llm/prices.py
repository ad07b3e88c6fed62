"""What tokens cost: a versioned table in the configs, exact arithmetic, US dollars per million tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import Field, ValidationError

from core.errors import ConfigError
from core.model.frozen import Frozen
from core.model.prompt import Usage
from core.model.specs import ModelSpec, Provider
from core.policy.ledger import Spend

PRICES = Path("models", "prices.yaml")
"""The table, relative to the configs root."""

_MILLION = Decimal(1_000_000)
Rate = Annotated[Decimal, Field(ge=0)]


class Price(Frozen):
    """US dollars per million tokens of each kind."""

    input: Rate
    output: Rate
    cache_read: Rate
    cache_write: Rate


BATCHED = Decimal("0.5")
"""What a request in a message batch costs of its price."""


FREE = Price(input=Decimal(0), output=Decimal(0), cache_read=Decimal(0), cache_write=Decimal(0))


class PriceTable(Frozen):
    """Prices by exact model name, as known on the day `version` names."""

    version: str
    models: Mapping[str, Price]

    def price(self, spec: ModelSpec) -> Price | None:
        """The price of a model, or None when nobody wrote it down. The rehearsal model is free unless listed."""
        return self.models.get(spec.model, FREE if spec.provider is Provider.REHEARSAL else None)


@dataclass(frozen=True)
class Tariff:
    """One model's price and the table it came from."""

    price: Price
    version: str
    share: Decimal = Decimal(1)
    """Of the price: 1, or BATCHED."""

    def batched(self) -> Tariff:
        """The same for message batches."""
        return Tariff(self.price, f"{self.version} batched", BATCHED)

    def cost(self, usage: Usage) -> Decimal:
        """US dollars for `usage`."""
        price = self.price
        full = (
            usage.input_tokens * price.input
            + usage.output_tokens * price.output
            + usage.cache_read_tokens * price.cache_read
            + usage.cache_write_tokens * price.cache_write
        )
        return full * self.share / _MILLION

    def worst(self, input_tokens: int, output_tokens: int) -> Spend:
        """The most that a call of this size can use: all input billed at the dearest of its rates."""
        dearest = max(self.price.input, self.price.cache_read, self.price.cache_write)
        usd = (input_tokens * dearest + output_tokens * self.price.output) * self.share / _MILLION
        return Spend(input_tokens + output_tokens, usd)


def load_prices(file: Path) -> PriceTable:
    """Read a price table. Raises ConfigError naming the file, the place in it and the remedy."""
    try:
        return PriceTable.model_validate(yaml.safe_load(file.read_text("utf-8")))
    except OSError as error:
        raise ConfigError(
            f"{file} cannot be read: {error.strerror}", file=str(file), remedy="restore the file of prices"
        ) from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{file} is not YAML: {error}", file=str(file)) from error
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        path = ".".join(map(str, first["loc"]))
        raise ConfigError(
            f"{file}: {path}: {first['msg']}",
            file=str(file),
            path=path,
            remedy="give input, output, cache_read and cache_write in US dollars per million tokens",
        ) from error
