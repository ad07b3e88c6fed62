"""The parser service: gRPC in front (`server`, `service`), worker processes behind (`workers`, `process`, `worker`)."""
