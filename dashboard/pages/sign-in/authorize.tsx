import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation, useSearch } from "wouter";
import type { DeviceRequest } from "../../../src/contract/device.ts";
import { call } from "../../api/call.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { useSignedIn } from "../../api/signed-in.ts";
import { Entrance } from "../../layout/entrance.tsx";
import { Ago } from "../../parts/ago.tsx";
import { Button, LinkButton } from "../../parts/button.tsx";
import { Command } from "../../parts/command.tsx";
import { TextField } from "../../parts/field.tsx";
import { Form } from "../../parts/form.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Failure, Notice } from "../../parts/notice.tsx";
import { Visible } from "../../parts/visible.tsx";

/** The verification page of `svc login` (RFC 8628, 3.3): the signed-in user allows or denies a terminal. */
export function Authorize() {
  const code = new URLSearchParams(useSearch()).get("code") ?? "";
  return code === "" ? <AskForCode /> : <Consent key={code} code={code} />;
}

function AskForCode({ error }: { error?: unknown }) {
  const [code, setCode] = useState("");
  const [, go] = useLocation();
  return (
    <Entrance title="Sign in a terminal">
      <Failure error={error} />
      <p className="text-muted">
        <code className="font-mono">svc login</code> shows a code in the terminal. Enter it here.
      </p>
      <Form onSubmit={() => go(path`/cli/authorize?code=${code.trim().toUpperCase()}`)}>
        <TextField
          label="Code"
          placeholder="XXXX-XXXX"
          required
          spellCheck={false}
          autoCapitalize="characters"
          value={code}
          onChange={(event) => setCode(event.target.value)}
        />
        <Button type="submit" look="primary">
          Continue
        </Button>
      </Form>
      <details className="text-sm">
        <summary className="rounded-md">Get a code</summary>
        <div className="mt-2">
          <Command>{`svc login --api ${window.location.origin}/v1`}</Command>
        </div>
      </details>
    </Entrance>
  );
}

function Consent({ code }: { code: string }) {
  const { data: signedIn } = useSignedIn();
  const request = useGet<DeviceRequest>(["device", code], path`/auth/device/${code}`, {
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  const allow = useMutation({
    mutationFn: ({ label, user_code }: DeviceRequest) =>
      call("POST", "/accounts/tokens", { body: { name: label || "svc login", device_user_code: user_code } }),
  });
  const deny = useMutation({
    mutationFn: ({ user_code }: DeviceRequest) =>
      call("POST", path`/auth/device/${user_code}/deny`, { body: {} }),
  });
  if (allow.isSuccess) return <Allowed />;
  if (deny.isSuccess) return <Denied />;
  if (request.isPending) return <Loading />;
  if (request.error) return <AskForCode error={request.error} />;
  const { data } = request;
  return (
    <Entrance title="Sign in this terminal?">
      <p className="text-muted">A terminal requests access as you. Does it show this code?</p>
      <p className="rounded-md border border-edge bg-raised py-3 text-center font-mono font-semibold text-2xl tracking-widest">
        <Visible>{data.user_code}</Visible>
      </p>
      <dl className="grid grid-cols-[max-content_1fr] gap-x-4 gap-y-1 text-sm">
        <dt className="text-muted">Name (as sent)</dt>
        <dd>
          <Visible>{data.label || "none"}</Visible>
        </dd>
        <dt className="text-muted">Program</dt>
        <dd>
          <Visible>{data.client || "unknown"}</Visible>
        </dd>
        <dt className="text-muted">From</dt>
        <dd>
          <Visible>{data.address || "unknown"}</Visible>
        </dd>
        <dt className="text-muted">Requested</dt>
        <dd>
          <Ago at={data.requested_at} />
        </dd>
        <dt className="text-muted">Acts as</dt>
        <dd>
          <Visible>{signedIn?.user?.email ?? ""}</Visible>
        </dd>
      </dl>
      <Notice kind="warning">
        Allow it only if you started svc login yourself and the codes match. Otherwise the sender of this link
        gets access to all of your projects.
      </Notice>
      <Failure error={allow.error ?? deny.error} />
      <div className="grid grid-cols-2 gap-3">
        <Button busy={deny.isPending} disabled={allow.isPending} onClick={() => deny.mutate(data)}>
          Deny
        </Button>
        <Button
          look="primary"
          busy={allow.isPending}
          disabled={deny.isPending}
          onClick={() => allow.mutate(data)}
        >
          Allow
        </Button>
      </div>
    </Entrance>
  );
}

function Allowed() {
  return (
    <Entrance title="The terminal is signed in">
      <Notice kind="success">Return to your terminal. It continues automatically in a few seconds.</Notice>
      <p className="text-muted text-sm">Its token is listed in your settings, where you can revoke it.</p>
      <LinkButton to="/">Go to your projects</LinkButton>
    </Entrance>
  );
}

function Denied() {
  return (
    <Entrance title="Sign-in denied">
      <Notice kind="info">
        The terminal is not signed in, and the code is no longer valid. If you started it yourself, run svc
        login again.
      </Notice>
      <LinkButton to="/">Go to your projects</LinkButton>
    </Entrance>
  );
}
