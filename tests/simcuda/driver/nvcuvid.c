/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libnvcuvid.so.1, the decoder library, for a device without a decoder. GStreamer registers
 * cudaupload and cudadownload only where this library exports the functions its decoders call.
 */

/* CUDA_ERROR_NOT_SUPPORTED */
enum { NOT_SUPPORTED = 801 };

/* All functions take any arguments. */
#define LACKING(name)                                                                              \
  __attribute__ ((visibility ("default"))) int name (void);                                        \
  int name (void)                                                                                  \
  {                                                                                                \
    return NOT_SUPPORTED;                                                                          \
  }
LACKING (cuvidCreateDecoder)
LACKING (cuvidCreateVideoParser)
LACKING (cuvidCtxLock)
LACKING (cuvidCtxLockCreate)
LACKING (cuvidCtxLockDestroy)
LACKING (cuvidCtxUnlock)
LACKING (cuvidDecodePicture)
LACKING (cuvidDestroyDecoder)
LACKING (cuvidDestroyVideoParser)
LACKING (cuvidGetDecoderCaps)
LACKING (cuvidMapVideoFrame64)
LACKING (cuvidParseVideoData)
LACKING (cuvidUnmapVideoFrame64)
