#include <cub/device/device_scan.cuh> /* which has both */
