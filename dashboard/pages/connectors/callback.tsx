import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { Link, useSearch } from "wouter";
import type { CompleteConsentBody } from "../../../src/contract/connector.ts";
import { call } from "../../api/call.ts";
import { path } from "../../api/path.ts";
import { Loading } from "../../parts/loading.tsx";
import { Failure, Notice } from "../../parts/notice.tsx";
import { Page } from "../../parts/page.tsx";

/** The page to which an authorization server returns a browser: completes the consent. */
export function ConnectorCallback() {
  const query = new URLSearchParams(useSearch());
  const [state, code, iss] = ["state", "code", "iss"].map((name) => query.get(name));
  const [projectId = ""] = (state ?? "").split(".", 1);
  const complete = useMutation({
    mutationFn: (body: CompleteConsentBody) =>
      call<{ slug: string }>("POST", path`/projects/${projectId}/connector-consents`, { body }),
  });
  const isSent = useRef(false);
  const { mutate } = complete;
  useEffect(() => {
    // a code is valid once
    if (isSent.current || !state || !code) return;
    isSent.current = true;
    mutate({ state, code, ...(iss && { iss }) });
  }, [mutate, state, code, iss]);
  const settings = path`/projects/${projectId}/settings`;
  return (
    <Page title="Connect a connector">
      {!state || !code ? (
        <Notice kind="warning">
          Access was not granted. Nothing was connected. You can close this page.
        </Notice>
      ) : complete.isSuccess ? (
        <Notice kind="success">
          {complete.data.slug} is connected: agents can call its tools. <Link href={settings}>Settings</Link>
        </Notice>
      ) : complete.error ? (
        <Failure error={complete.error} />
      ) : (
        <Loading what="Connecting" />
      )}
    </Page>
  );
}
