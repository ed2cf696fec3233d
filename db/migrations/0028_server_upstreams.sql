ALTER TABLE "model_upstreams" DROP CONSTRAINT "model_upstreams_project_id_upstream_id_pk";--> statement-breakpoint
ALTER TABLE "model_upstreams" ALTER COLUMN "project_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "is_operator" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "model_upstreams_server_upstream_id" ON "model_upstreams" USING btree ("upstream_id") WHERE "model_upstreams"."project_id" is null;--> statement-breakpoint
ALTER TABLE "model_upstreams" ADD CONSTRAINT "model_upstreams_project_id_upstream_id_unique" UNIQUE("project_id","upstream_id");--> statement-breakpoint
UPDATE "users" SET "is_operator" = true WHERE (SELECT count(*) FROM "users") = 1;
