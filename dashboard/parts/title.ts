/** The title of the document: that of the page, after the number of unread notifications. */
const shown = { page: "svc", unread: 0 };

export function setPageTitle(page: string): void {
  shown.page = page;
  show();
}

/** Also marks the icon of the app where it is installed. */
export function setUnread(unread: number): void {
  shown.unread = unread;
  show();
  void (unread > 0 ? navigator.setAppBadge?.(unread) : navigator.clearAppBadge?.());
}

function show(): void {
  document.title = shown.unread > 0 ? `(${shown.unread}) ${shown.page}` : shown.page;
}
