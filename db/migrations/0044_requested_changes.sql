CREATE TYPE "public"."review_state" AS ENUM('approved', 'changes_requested');--> statement-breakpoint
ALTER TYPE "public"."notification_event" ADD VALUE 'cr.changes_requested';--> statement-breakpoint
ALTER TABLE "change_request_approvals" ADD COLUMN "state" "review_state" DEFAULT 'approved' NOT NULL;--> statement-breakpoint
ALTER TABLE "change_request_approvals" ADD COLUMN "body" text;--> statement-breakpoint
ALTER TABLE "change_request_approvals" ADD CONSTRAINT "change_request_approvals_request_has_text" CHECK (("change_request_approvals"."state" = 'changes_requested') = ("change_request_approvals"."body" is not null));