import { createTransport } from "nodemailer";
import { SETTINGS_PAGE } from "../../contract/notification-event.ts";
import type { Deps } from "../../deps.ts";
import { publicUrl } from "../../identity/auth/public-url.ts";
import type { Message } from "./message.ts";
import type { Outcome } from "./outcome.ts";

/** Of connecting, of the server's greeting, and of its silence. */
const ATTEMPT_MS = 15_000;
/** A reply of an SMTP server that another attempt would get too (RFC 5321, 4.2.1). */
const PERMANENT = 500;

/**
 * Sends an e-mail by the operator's SMTP server. A failure is a result. The same notification has the same `Message-ID`, by
 * which mail programs recognize one that was sent twice.
 */
export async function sendMail(
  deps: Pick<Deps, "config" | "api">,
  { to, message }: { to: string; message: Message },
  signal: AbortSignal,
): Promise<Outcome> {
  const { mail } = deps.config;
  if (!mail) return { kind: "failed", error: "This server sends no e-mails.", afterS: 0 };
  const site = publicUrl(deps);
  const transport = createTransport({
    url: mail.url,
    ...{ connectionTimeout: ATTEMPT_MS, greetingTimeout: ATTEMPT_MS, socketTimeout: ATTEMPT_MS },
    // a message holds texts of others, and never a file or the answer to a request
    ...{ disableFileAccess: true, disableUrlAccess: true },
  });
  try {
    await transport.sendMail({
      from: mail.from,
      to: { name: "", address: to },
      subject: message.title,
      text: bodyOf(message, site),
      messageId: `<${message.id}@${new URL(site).hostname}>`,
      // answering programs, such as those of absences, leave it alone (RFC 3834)
      headers: { "Auto-Submitted": "auto-generated" },
      signal,
    });
    return { kind: "sent" };
  } catch (error) {
    if (signal.aborted) throw error;
    const code: unknown = Reflect.get(Object(error), "responseCode");
    const isPermanent = typeof code === "number" && code >= PERMANENT;
    const answer = typeof code === "number" ? ` (${code})` : "";
    return {
      kind: isPermanent ? "failed" : "later",
      error: `The SMTP server did not take the e-mail${answer}.`,
      afterS: 0,
    };
  } finally {
    transport.close();
  }
}

function bodyOf({ title, text, path }: Message, site: string): string {
  return [
    `${title}${text === "" ? "." : ":"}`,
    ...(text === "" ? [] : [text]),
    `${site}${path}`,
    `You get this e-mail because you chose it. Change that: ${site}${SETTINGS_PAGE}`,
  ].join("\n\n");
}
