import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { Preview as PreviewLink } from "../../../src/contract/preview.ts";
import type { Session } from "../../../src/contract/session.ts";
import { call } from "../../api/call.ts";
import { path } from "../../api/path.ts";
import { Button } from "../../parts/button.tsx";
import { TextField } from "../../parts/field.tsx";
import { Failure } from "../../parts/notice.tsx";

/** Where most development servers listen (spec 4.5). */
const PORT = "3000";

/** Opens what listens on a port of the sandbox in a tab of its own. */
export function Preview({ session }: { session: Session }) {
  const [port, setPort] = useState(PORT);
  const [isBlocked, setIsBlocked] = useState(false);
  const number = /^\d{1,5}$/.test(port) ? Number(port) : 0;
  const isPort = number >= 1 && number <= 65_535;
  const link = useMutation({ mutationFn: () => makeLink(session, number) });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!isPort || link.isPending) return;
    // opened while the click counts, and led to its address later: else the browser takes it for a pop-up
    const tab = window.open("about:blank", "_blank");
    if (tab) tab.opener = null;
    setIsBlocked(tab === null);
    const made = await link.mutateAsync().catch(() => null);
    if (made === null) tab?.close();
    else tab?.location.replace(made.url);
  };
  return (
    <form onSubmit={(event) => void submit(event)} className="flex flex-col gap-2">
      <TextField
        label="Preview of a port"
        inputMode="numeric"
        value={port}
        error={isPort ? undefined : "A port is a whole number from 1 to 65535."}
        onChange={(event) => setPort(event.target.value.trim())}
      />
      <Button type="submit" disabled={!isPort || session.status !== "running"} busy={link.isPending}>
        Open the preview
      </Button>
      <Failure error={link.error} />
      {isBlocked && link.data && (
        <a href={link.data.url} target="_blank" rel="noopener noreferrer" className="text-accent underline">
          The browser kept the tab shut. Open the preview here
        </a>
      )}
    </form>
  );
}

async function makeLink(session: Session, port: number): Promise<PreviewLink> {
  const own = path`/projects/${session.project_id}/sessions/${session.session_id}`;
  const made = await call<PreviewLink>("POST", `${own}/preview`, { body: { port } });
  if (/^https?:$/.test(new URL(made.url).protocol)) return made;
  throw new Error("the preview's address is none of a page");
}
