"""Wire formats, by protobuf package; `scripts/proto` generates the code beside each .proto."""
