import type { Static, TObject, TProperties } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { SvcError } from "../../contract/errors.ts";
import { isObject } from "../../contract/json.ts";
import { validationFailed } from "../../http/validation.ts";

/** The longest name of an argument in an error, in characters. */
const NAME_MAX = 64;

/** @throws validation_failed, in the terms of the API, also for an argument that the tool does not have */
export function requireValid<Fields extends TProperties>(
  input: TObject<Fields>,
  args: unknown,
): asserts args is Static<TObject<Fields>> {
  const known = Object.keys(input.properties);
  const extra = isObject(args) ? Object.keys(args).find((name) => !known.includes(name)) : undefined;
  if (extra !== undefined) {
    const takes =
      known.length === 0 ? "The tool has no arguments." : `Its arguments are ${known.join(", ")}.`;
    throw new SvcError(
      "validation_failed",
      `The tool has no argument "${extra.slice(0, NAME_MAX)}". ${takes}`,
    );
  }
  if (!Value.Check(input, args))
    throw validationFailed({ type: "arguments", all: [...Value.Errors(input, args)] });
}
