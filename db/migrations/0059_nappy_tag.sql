ALTER TYPE "public"."timeline_event" ADD VALUE 'thread_resolved';--> statement-breakpoint
ALTER TYPE "public"."timeline_event" ADD VALUE 'thread_reopened';--> statement-breakpoint
CREATE INDEX "change_request_comments_open" ON "change_request_comments" USING btree ("cr_id") WHERE "change_request_comments"."reply_to" is null and "change_request_comments"."resolved_at" is null;