import { isDatabaseAway } from "../../db/errors.ts";
import { diskFull, isDiskFull } from "../contract/disk-full.ts";
import { type ErrorBody, SvcError } from "../contract/errors.ts";
import { validationFailed } from "./validation.ts";

/**
 * Converts anything thrown to an error for the caller. Only the messages of `SvcError`s leave the server; for other
 * errors the caller gets the request id, which the log has too.
 */
export function toSvcError(error: unknown, code: string | number, requestId: string): SvcError {
  if (error instanceof SvcError) return error;
  // the framework wraps errors of body parsers
  if (error instanceof Error && error.cause instanceof SvcError) return error.cause;
  if (isDiskFull(error)) return diskFull();
  if (isDatabaseAway(error)) {
    const sentence = "The database does not answer. Try again in a moment.";
    return new SvcError("unavailable", sentence, { request_id: requestId }, { "Retry-After": "5" });
  }
  if (code === "VALIDATION" && !isResponseValidation(error)) return validationFailed(error);
  if (code === "PARSE")
    return new SvcError(
      "invalid_json",
      "The body is not JSON. Send JSON in UTF-8, with Content-Type: application/json.",
    );
  if (code === "INVALID_COOKIE_SIGNATURE" || code === "INVALID_FILE_TYPE") {
    return new SvcError("validation_failed", "The request is malformed.");
  }
  const sentence = "Something went wrong inside svc. The server's log has the cause under this request's id.";
  return new SvcError("internal", sentence, { request_id: requestId });
}

export function toBody(error: SvcError): ErrorBody {
  return { error: error.message, code: error.code, ...error.extra };
}

/** A response that does not match its own schema is an internal error. */
function isResponseValidation(error: unknown): boolean {
  return typeof error === "object" && error !== null && Reflect.get(error, "type") === "response";
}
