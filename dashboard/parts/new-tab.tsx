import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Preview } from "../../src/contract/preview.ts";
import { call } from "../api/call.ts";
import { Failure } from "./notice.tsx";

/** Opens a one-time sign-in link in a new tab. */
export function useNewTab(): { open: (at: string, body?: unknown) => Promise<void>; link: NewTabLink } {
  const [isBlocked, setIsBlocked] = useState(false);
  const link = useMutation({
    mutationFn: ({ at, body }: { at: string; body?: unknown }) => createLink(at, body),
  });
  return {
    async open(at, body) {
      // open the tab during the click and set its address later: otherwise the browser blocks it as a pop-up
      const tab = window.open("about:blank", "_blank");
      if (tab) tab.opener = null;
      setIsBlocked(tab === null);
      const made = await link.mutateAsync({ at, body }).catch(() => null);
      if (made === null) tab?.close();
      else tab?.location.replace(made.url);
    },
    link: {
      error: link.error,
      isPending: link.isPending,
      blocked: isBlocked ? (link.data?.url ?? null) : null,
    },
  };
}

export interface NewTabLink {
  error: unknown;
  isPending: boolean;
  /** The address of a tab that the browser blocked. */
  blocked: string | null;
}

/** Shows why a tab did not open. */
export function NewTabOutcome({ link, what }: { link: NewTabLink; what: string }) {
  return (
    <>
      <Failure error={link.error} />
      {link.blocked && (
        <a href={link.blocked} target="_blank" rel="noopener noreferrer" className="text-accent underline">
          The browser blocked the new tab. Open {what} here
        </a>
      )}
    </>
  );
}

async function createLink(at: string, body: unknown): Promise<Preview> {
  const made = await call<Preview>("POST", at, body === undefined ? {} : { body });
  if (/^https?:$/.test(new URL(made.url).protocol)) return made;
  throw new Error("the address is not http or https");
}
