CREATE TABLE "host_reads" (
	"cr_id" uuid PRIMARY KEY NOT NULL,
	"since" timestamp with time zone NOT NULL,
	"due_at" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
ALTER TABLE "commit_statuses" ADD COLUMN "from_host" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "commit_statuses" ADD COLUMN "report_due_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "commit_statuses" ADD COLUMN "report_failures" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "host_reads" ADD CONSTRAINT "host_reads_cr_id_change_requests_cr_id_fk" FOREIGN KEY ("cr_id") REFERENCES "public"."change_requests"("cr_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "host_reads_due" ON "host_reads" USING btree ("due_at") WHERE "host_reads"."due_at" is not null;--> statement-breakpoint
CREATE INDEX "commit_statuses_report_due" ON "commit_statuses" USING btree ("report_due_at") WHERE "commit_statuses"."report_due_at" is not null;--> statement-breakpoint
INSERT INTO "host_reads" ("cr_id", "since", "due_at") SELECT "cr_id", "change_requests"."updated_at", now() FROM "change_requests" JOIN "projects" USING ("project_id") WHERE "change_requests"."status" = 'open' AND "projects"."repo_url" IS NOT NULL;
