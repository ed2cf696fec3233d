import type { ReactNode } from "react";
import { Page } from "../parts/page.tsx";

/** The layout of the pages for signing in: one centered form. */
export function Entrance({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className="mx-auto flex min-h-dvh max-w-md flex-col justify-center px-4 py-10">
      <div className="rounded-lg border border-line bg-surface p-6 shadow-sm">
        <img src="/assets/icon.svg" alt="" className="size-10" />
        <Page title={title}>
          <div className="flex flex-col gap-4">{children}</div>
        </Page>
      </div>
    </main>
  );
}
