DROP INDEX "apps_project_id_slug";--> statement-breakpoint
ALTER TABLE "apps" ADD COLUMN "cr_id" uuid;--> statement-breakpoint
ALTER TABLE "apps" ADD COLUMN "cr_number" integer;--> statement-breakpoint
ALTER TABLE "apps" ADD COLUMN "visited_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "apps" ADD CONSTRAINT "apps_cr_id_change_requests_cr_id_fk" FOREIGN KEY ("cr_id") REFERENCES "public"."change_requests"("cr_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "apps_cr_id_slug" ON "apps" USING btree ("cr_id","slug");--> statement-breakpoint
CREATE UNIQUE INDEX "apps_project_id_slug" ON "apps" USING btree ("project_id","slug") WHERE "apps"."cr_id" is null;--> statement-breakpoint
ALTER TABLE "apps" ADD CONSTRAINT "apps_preview_has_number" CHECK (("apps"."cr_id" is null) = ("apps"."cr_number" is null));