import { useState } from "react";
import type { ListeningPort } from "../../../src/contract/ports.ts";
import type { Session } from "../../../src/contract/session.ts";
import { path } from "../../api/path.ts";
import { Button } from "../../parts/button.tsx";
import { TextField } from "../../parts/field.tsx";
import { Form } from "../../parts/form.tsx";
import { NewTabOutcome, useNewTab } from "../../parts/new-tab.tsx";
import { Visible } from "../../parts/visible.tsx";

/** The most common port of development servers (spec 4.5). */
const PORT = "3000";

/** Opens a port of the sandbox in a new tab: one on which a program listens, or any other. */
export function Preview({ session, ports }: { session: Session; ports: readonly ListeningPort[] }) {
  const [port, setPort] = useState(PORT);
  const number = /^\d{1,5}$/.test(port) ? Number(port) : 0;
  const isPort = number >= 1 && number <= 65_535;
  const { open, link } = useNewTab();
  const own = path`/projects/${session.project_id}/sessions/${session.session_id}`;
  const submit = () => {
    if (isPort && !link.isPending) void open(`${own}/preview`, { port: number });
  };
  return (
    <Form onSubmit={submit} className="flex flex-col gap-2">
      {ports.length > 0 && (
        <ul aria-label="Ports that listen" className="flex flex-wrap gap-2">
          {ports.map(({ port: each, process }) => (
            <li key={each}>
              <Button
                type="button"
                disabled={link.isPending}
                onClick={() => void open(`${own}/preview`, { port: each })}
              >
                Open {each}
                {process !== null && (
                  <span className="text-muted">
                    <Visible>{process}</Visible>
                  </span>
                )}
              </Button>
            </li>
          ))}
        </ul>
      )}
      <TextField
        label="Preview of a port"
        inputMode="numeric"
        value={port}
        error={isPort ? undefined : "A port must be an integer from 1 to 65535."}
        onChange={(event) => setPort(event.target.value.trim())}
      />
      <Button type="submit" disabled={!isPort || session.status !== "running"} busy={link.isPending}>
        Open the preview
      </Button>
      <NewTabOutcome link={link} what="the preview" />
    </Form>
  );
}
