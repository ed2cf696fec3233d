import type { SvcError } from "../../contract/errors.ts";
import type { Format } from "../../models/catalog.ts";
import type { Answer } from "../../splice/answer.ts";

/** An error in the shape of a format, which its clients understand. */
export function failureBody(format: Format, error: SvcError, requestId: string): Record<string, unknown> {
  const { message, code, status } = error;
  if (format === "anthropic")
    return {
      type: "error",
      error: {
        type: ANTHROPIC_TYPES[status] ?? (status < 500 ? "invalid_request_error" : "api_error"),
        message,
        code,
      },
      request_id: requestId,
    };
  return {
    error: {
      message,
      type: OPENAI_TYPES[status] ?? (status < 500 ? "invalid_request_error" : "server_error"),
      param: null,
      code,
    },
  };
}

/** Anthropic: Errors. */
const ANTHROPIC_TYPES: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
  504: "timeout_error",
};

/** OpenAI: Error codes. */
const OPENAI_TYPES: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "insufficient_quota",
  429: "rate_limit_error",
};

export function jsonAnswer(
  status: number,
  body: Record<string, unknown>,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return { status, headers: { ...headers, "Content-Type": "application/json" }, body: JSON.stringify(body) };
}
