CREATE TABLE "volumes" (
	"volume_id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"app_id" uuid,
	"provider" "sandbox_provider" NOT NULL,
	"place" text NOT NULL,
	"run_id" text,
	"bytes" bigint,
	"measured_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "volumes" ADD CONSTRAINT "volumes_app_id_apps_app_id_fk" FOREIGN KEY ("app_id") REFERENCES "public"."apps"("app_id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "volumes_app_id" ON "volumes" USING btree ("app_id");